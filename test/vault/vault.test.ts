import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { parseCredentialsKeys } from '../../adapters/vault/credentials-keys.ts';
import { createMemoryVault } from '../../adapters/vault/memory-vault.ts';
import { createSealedVault } from '../../adapters/vault/sealed-vault.ts';
import type { Credential, Vault } from '../../core/ports/vault.ts';
import { createMovedClock } from '../jwks/moved-clock.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const newKey = () => new Uint8Array(randomBytes(32));
const ALICE = { tenant: 'rovo:t1', principal: '557057:alice' };
const HOUR_MS = 3_600_000;

const clock = createMovedClock();
const sealedWith = (...keys: readonly [Uint8Array, ...Uint8Array[]]) => createSealedVault({ keys, digest, clock });
const token = (value: string) => ({ token: value, expiresAt: clock.now() + HOUR_MS });

for (const [kind, create] of [
  ['sealed', () => sealedWith(newKey())],
  ['in memory', () => createMemoryVault({ digest, clock })],
] as const satisfies readonly (readonly [string, () => Vault])[]) {
  describe(`vault, ${kind}`, () => {
    test('its own subject gets the token back', async () => {
      const vault = create();
      const credential = await vault.hold(ALICE, token('alice-token'));
      assert.equal(credential.hash, digest('alice-token'));
      assert.equal(await vault.reveal(ALICE, credential), 'alice-token');
    });

    test('a foreign principal or tenant does not, also with the same token of its own', async () => {
      const vault = create();
      const credential = await vault.hold(ALICE, token('alice-token'));
      for (const subject of [
        { ...ALICE, principal: '557057:bob' },
        { ...ALICE, tenant: 'rovo:t2' },
        { tenant: 'rovo', principal: 't1557057:alice' },
      ]) {
        assert.equal(await vault.reveal(subject, credential), undefined);
      }
    });

    test('an expired one is gone, by the clock port', async () => {
      const vault = create();
      const credential = await vault.hold(ALICE, token('alice-token'));
      clock.advance(HOUR_MS - 1_000);
      assert.equal(await vault.reveal(ALICE, credential), 'alice-token');
      clock.advance(1_000);
      assert.equal(await vault.reveal(ALICE, credential), undefined);
    });

    test('one without an end of its own is kept for four hours', async () => {
      const vault = create();
      const credential = await vault.hold(ALICE, { token: 'endless' });
      clock.advance(4 * HOUR_MS - 1_000);
      assert.equal(await vault.reveal(ALICE, credential), 'endless');
      clock.advance(1_000);
      assert.equal(await vault.reveal(ALICE, credential), undefined);
    });
  });
}

describe('vault, sealed: keys and tampering', () => {
  test('the row holds no token in clear', async () => {
    const credential = await sealedWith(newKey()).hold(ALICE, token('alice-token'));
    assert.ok(!JSON.stringify(credential).includes('alice-token'));
    assert.ok(!JSON.stringify(credential).includes(Buffer.from('alice-token').toString('base64url')));
  });

  test('rotation: a new first key seals, an old one still opens', async () => {
    const [old, fresh] = [newKey(), newKey()];
    const before = await sealedWith(old).hold(ALICE, token('before'));
    const rotated = sealedWith(fresh, old);
    assert.equal(await rotated.reveal(ALICE, before), 'before');
    const since = await rotated.hold(ALICE, token('since'));
    assert.equal(await sealedWith(fresh).reveal(ALICE, since), 'since');
    assert.equal(await sealedWith(old).reveal(ALICE, since), undefined);
    assert.equal(await sealedWith(fresh).reveal(ALICE, before), undefined);
  });

  test('a token that comes again is not sealed again, until its row is gone', async () => {
    const vault = sealedWith(newKey());
    const first = await vault.hold(ALICE, token('alice-token'));
    assert.equal((await vault.hold(ALICE, token('alice-token'))).sealed, first.sealed);
    const bob = await vault.hold({ ...ALICE, principal: 'bob' }, token('alice-token'));
    assert.notEqual(bob.sealed, first.sealed);
    assert.equal(await vault.reveal(ALICE, bob), undefined);
    const other = await vault.hold(ALICE, token('another'));
    assert.equal(await vault.reveal(ALICE, other), 'another');
    vault.retain(new Set([first.hash]));
    const again = await vault.hold(ALICE, token('another'));
    assert.notEqual(again.sealed, other.sealed);
    assert.equal(await vault.reveal(ALICE, again), 'another');
  });

  test('any changed character makes it unreadable', async () => {
    const vault = sealedWith(newKey());
    const credential = await vault.hold(ALICE, token('alice-token'));
    const sealed = credential.sealed ?? '';
    for (let at = 0; at < sealed.length; at += 1) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
      // The unused bits at the end of a base64url segment carry nothing.
      const opened = await vault.reveal(ALICE, { ...credential, sealed: changed });
      assert.ok(
        opened === undefined ||
          Buffer.from(changed.split('.')[4] ?? '', 'base64url').equals(
            Buffer.from(sealed.split('.')[4] ?? '', 'base64url'),
          ),
        `position ${at}`,
      );
    }
  });

  test('a header rewritten for another user does not open with the right key', async () => {
    const vault = sealedWith(newKey());
    const credential = await vault.hold(ALICE, token('alice-token'));
    const [header = '', ...rest] = (credential.sealed ?? '').split('.');
    const claims = JSON.parse(Buffer.from(header, 'base64url').toString()) as object;
    const bob = { ...ALICE, principal: '557057:bob' };
    const forged = Buffer.from(JSON.stringify({ ...claims, ...bob })).toString('base64url');
    assert.equal(await vault.reveal(bob, { ...credential, sealed: [forged, ...rest].join('.') }), undefined);
  });

  test('a row whose hash is of another token, and one without a seal, answer nothing', async () => {
    const vault = sealedWith(newKey());
    const credential = await vault.hold(ALICE, token('alice-token'));
    assert.equal(await vault.reveal(ALICE, { ...credential, hash: digest('other') }), undefined);
    const { hash, expiresAt }: Credential = credential;
    assert.equal(await vault.reveal(ALICE, { hash, expiresAt }), undefined);
    assert.equal(await vault.reveal(ALICE, { hash, expiresAt, sealed: 'rubbish' }), undefined);
  });
});

describe('vault, in memory: what is retained', () => {
  test('only named hashes stay, once their rows have had time to be committed', async () => {
    const vault = createMemoryVault({ digest, clock });
    const kept = await vault.hold(ALICE, token('kept'));
    const dropped = await vault.hold(ALICE, token('dropped'));
    clock.advance(60_000);
    const fresh = await vault.hold(ALICE, token('fresh'));
    vault.retain(new Set([kept.hash]));
    assert.equal(await vault.reveal(ALICE, kept), 'kept');
    assert.equal(await vault.reveal(ALICE, dropped), undefined);
    assert.equal(await vault.reveal(ALICE, fresh), 'fresh');
    clock.advance(60_000);
    vault.retain(new Set());
    assert.equal(await vault.reveal(ALICE, kept), undefined);
    assert.equal(await vault.reveal(ALICE, fresh), undefined);
  });

  test('another process has nothing', async () => {
    const credential = await createMemoryVault({ digest, clock }).hold(ALICE, token('alice-token'));
    assert.equal(credential.sealed, undefined);
    assert.equal(await createMemoryVault({ digest, clock }).reveal(ALICE, credential), undefined);
  });
});

describe('CREDENTIALS_KEY', () => {
  const key = () => Buffer.from(newKey()).toString('base64');

  test('one key, or a comma list in order', () => {
    const [a, b] = [key(), key()];
    assert.deepEqual(
      parseCredentialsKeys(a)?.map((each) => Buffer.from(each).toString('base64')),
      [a],
    );
    assert.deepEqual(
      parseCredentialsKeys(` ${a} , ${b}`)?.map((each) => Buffer.from(each).toString('base64')),
      [a, b],
    );
  });

  for (const [what, text] of [
    ['nothing', ''],
    ['31 bytes', randomBytes(31).toString('base64')],
    ['33 bytes', randomBytes(33).toString('base64')],
    ['hexadecimal', randomBytes(32).toString('hex')],
    ['an empty entry', `${randomBytes(32).toString('base64')},`],
    ['words', 'correct horse battery staple correct horse'],
  ] as const) {
    test(`${what}: refused`, () => {
      assert.equal(parseCredentialsKeys(text), undefined);
    });
  }
});
