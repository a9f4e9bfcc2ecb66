import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../src/config.ts';

const APP = '5f3c1d2e-0a4b-4c6d-8e9f-a1b2c3d4e5f6';

test('config: an unknown ROVO_ or A2A_ name is answered with the nearest known one', () => {
  const { warnings } = loadConfig({
    FORGE_APP_ID: APP,
    ROVO_WAIT: '1',
    A2A_AUHT: 'jwt',
    FORGE_EMAIL: 'a@b',
    A2A_WAIT: '5',
    A2A_OLD: ' ',
  });
  assert.deepEqual(warnings, [
    'ROVO_WAIT is not a setting of this service; did you mean ROVO_WAIT_MS?',
    'A2A_AUHT is not a setting of this service; did you mean A2A_AUTH?',
    'A2A_WAIT is not a setting of this service; did you mean A2A_WAIT_MS?',
  ]);
});

test('config: a name one slip away from a setting is answered with it, a name of another program is not', () => {
  const { warnings } = loadConfig({
    FORGE_APP_ID: APP,
    FORGE_APPID: APP,
    OPS_TOKN: 'secret',
    CREDENTIAL_KEY: 'secret',
    DATABASE_URI: 'sqlite:./a.db',
    FORGE_API_TOKEN: 'another program reads this',
    PATH: '/bin',
    HOSTS: 'one',
  });
  assert.deepEqual(warnings, [
    'FORGE_APPID is not a setting of this service; did you mean FORGE_APP_ID?',
    'OPS_TOKN is not a setting of this service; did you mean OPS_TOKEN?',
    'CREDENTIAL_KEY is not a setting of this service; did you mean CREDENTIALS_KEY?',
    'DATABASE_URI is not a setting of this service; did you mean DATABASE_URL?',
  ]);
});

test('config: settings of an edge that is off are reported as without effect', () => {
  assert.deepEqual(loadConfig({ A2A_AUTH: 'anonymous', ROVO_WAIT_MS: '1', A2A_JWT_ISSUER: 'me' }).warnings, [
    'A2A_JWT_ISSUER has no effect while A2A_AUTH is anonymous',
    'ROVO_WAIT_MS has no effect while FORGE_APP_ID is not set',
  ]);
  assert.deepEqual(loadConfig({ FORGE_APP_ID: APP, A2A_PUSH_ALLOW: '127.0.0.1' }).warnings, [
    'A2A_PUSH_ALLOW has no effect while A2A_PUSH is off',
  ]);
});

test('config: a PUBLIC_URL that sends callers over a network in clear is warned about [4.4.6-https]', () => {
  const warned = (url: string) => loadConfig({ FORGE_APP_ID: APP, PUBLIC_URL: url }).warnings;
  assert.deepEqual(warned('http://agent.example:8080/base'), [
    'PUBLIC_URL is http://agent.example:8080: callers are told to send their tokens there without TLS; let it be an https URL',
  ]);
  for (const url of ['https://agent.example', 'http://127.0.0.1:8080', 'http://localhost', 'http://[::1]:1']) {
    assert.deepEqual(warned(url), [], url);
  }
  assert.deepEqual(loadConfig({ FORGE_APP_ID: APP }).warnings, []);
});

test('config: push that is on says that nothing is delivered', () => {
  assert.match(
    loadConfig({ A2A_AUTH: 'anonymous', A2A_PUSH: 'on' }).warnings.join(),
    /A2A_PUSH is on.*delivers nothing/,
  );
});

test('config: a share that is larger than the whole is reported as without effect, one that nobody set is not', () => {
  const warned = (settings: Record<string, string>) => loadConfig({ FORGE_APP_ID: APP, ...settings }).warnings;
  for (const [share, whole] of [
    ['AGENT_CONCURRENCY_PER_TENANT', 'AGENT_CONCURRENCY'],
    ['MAX_REQUESTS_PER_PRINCIPAL', 'MAX_REQUESTS'],
    ['MAX_STREAMS_PER_PRINCIPAL', 'MAX_STREAMS'],
    ['MAX_QUEUED_PER_TENANT', 'MAX_QUEUED'],
  ] as const) {
    assert.deepEqual(warned({ [share]: '21', [whole]: '20' }), [`${share} has no effect while ${whole} is 20`]);
    // By default it is less, so this says something.
    assert.deepEqual(warned({ [share]: '20', [whole]: '20' }), []);
    assert.deepEqual(warned({ [whole]: '2' }), []);
  }
});
