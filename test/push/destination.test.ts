import assert from 'node:assert/strict';
import { test } from 'node:test';
import { destinationFault } from '../../adapters/push/destination.ts';

const NOBODY = { allowedHosts: [] };

for (const url of [
  'https://hooks.harbor.example/x?y=1#z',
  'https://hooks.harbor.example:8443/x',
  'https://8.8.8.8/x',
  'https://[2606:4700::1111]/x',
  'https://1.0.0.127.example/x',
  'https://192.169.0.1/x',
  'https://172.32.0.1/x',
  'https://100.128.0.1/x',
]) {
  test(`push destination: ${url} may be one`, () => assert.equal(destinationFault(url, NOBODY), undefined));
}

const PRIVATE = [
  ...['127.0.0.1', '127.9.9.9', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254'],
  ...['0.0.0.0', '100.64.0.1', '192.0.0.8', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '127.0.0.1.', '１２７.0.0.1'],
  ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:a00:1]', '[::127.0.0.1]', '[64:ff9b::a00:1]'],
  ...['[fe80::1]', '[fc00::1]', '[fd12::1]', '[ff02::1]', '[2002:7f00:1::]', '[2001:0:1::1]', '[2001:db8::1]'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'db.localhost', 'intranet'],
];
for (const host of PRIVATE) {
  test(`push destination: ${host} leads to a private address [13.2-destination]`, () => {
    assert.equal(destinationFault(`https://${host}/x`, NOBODY), 'must not lead to a private address');
  });
}

const OTHERS: readonly (readonly [string, RegExp])[] = [
  ['', /must be a URL/],
  ['hooks.harbor.example', /must be a URL/],
  ['https://', /must be a URL/],
  ['file:///etc/passwd', /https URL/],
  ['gopher://hooks.harbor.example', /https URL/],
  ['javascript:alert(1)', /https URL/],
  ['http://hooks.harbor.example/x', /https URL/],
  ['https://me@hooks.harbor.example', /must not name a user/],
  ['https://me:secret@hooks.harbor.example', /must not name a user/],
  [`https://hooks.harbor.example/${'x'.repeat(2_048)}`, /at most 2048 characters/],
];
for (const [url, fault] of OTHERS) {
  test(`push destination: ${url.slice(0, 50)} is none [13.2-https]`, () =>
    assert.match(destinationFault(url, NOBODY) ?? '', fault));
}

test('push destination: an allowed host may be private and without https, another port of it may not', () => {
  const rules = { allowedHosts: ['127.0.0.1:9000', 'localhost', '[::1]'] };
  for (const url of ['http://127.0.0.1:9000/x', 'http://localhost:1/x', 'https://localhost/x', 'http://[::1]:5/x']) {
    assert.equal(destinationFault(url, rules), undefined, url);
  }
  assert.ok(destinationFault('http://127.0.0.1:9001/x', rules));
  assert.ok(destinationFault('http://me@localhost/x', rules));
  assert.ok(destinationFault('file://localhost/x', rules));
});
