import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { test } from 'node:test';
import { type AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { type AgentCardSource, createAgentCard } from '../../adapters/a2a/agent-card.ts';
import { type CardSigner, createCardSigner } from '../../adapters/a2a/card-signing.ts';
import type { Json, JsonObject } from '../../core/message.ts';

const SOURCE: AgentCardSource = {
  name: 'Lotse "Hafen" \u2028 🏮 \u0007',
  description: 'Auskünfte/über Vorgänge',
  version: '1.2.3',
  publicUrl: 'https://agent.example',
  path: '/a2a',
  httpJsonPath: '/a2a/v1',
  versions: ['1.0', '0.3'],
  streaming: true,
  pushNotifications: false,
  extendedCard: false,
  extensions: [{ uri: 'urn:harbor:seal', description: '', required: false }],
  auth: 'jwt',
  skills: [{ id: 'brief', name: 'Brief', description: 'Sums up', tags: ['jira', 'Ärger'], examples: ['Sum it up'] }],
  inputModes: ['text/plain'],
  outputModes: ['text/markdown'],
};
const KEY_SET_URL = 'https://agent.example/.well-known/jwks.json';

const KEYS: readonly (readonly [string, () => KeyObject])[] = [
  ['ES256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey],
  ['ES384', () => generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey],
  ['ES512', () => generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey],
  ['EdDSA', () => generateKeyPairSync('ed25519').privateKey],
  ['RS256', () => generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey],
  ['PS384', () => generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey],
];

interface Signature {
  readonly protected: string;
  readonly signature: string;
}

function signatureOf(card: JsonObject): Signature {
  const [signature, ...others] = card.signatures as unknown as readonly Signature[];
  assert.ok(signature && others.length === 0);
  return signature;
}

/** RFC 8785 once more, written from the RFC: names sorted by UTF-16 units, every unit escaped or not as it says. */
function jcs(value: Json | undefined): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return `"${[...value].map(escaped).join('')}"`;
  if (Array.isArray(value)) return `[${value.map(jcs).join(',')}]`;
  assert.ok(typeof value === 'object', 'a card has no numbers');
  const entries = Object.entries(value as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, member]) => `${jcs(name)}:${jcs(member)}`).join(',')}}`;
}

function escaped(char: string): string {
  const short: Record<string, string> = {
    ...{ '"': '\\"', '\\': '\\\\', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t' },
  };
  const code = char.charCodeAt(0);
  return short[char] ?? (code < 0x20 ? `\\u${code.toString(16).padStart(4, '0')}` : char);
}

function keyOf(signer: CardSigner): JsonWebKey & { kid: string; alg: string } {
  return (signer.keySet.keys as unknown as (JsonWebKey & { kid: string; alg: string })[])[0] ?? assert.fail();
}

/** As 8.4.3 has it, with nothing of ours and nothing of the SDK. */
function isGenuine(card: JsonObject, jwk: JsonWebKey & { alg: string }): boolean {
  const { signatures: _, ...content } = card;
  const { protected: header, signature } = signatureOf(card);
  const input = Buffer.from(`${header}.${Buffer.from(jcs(content)).toString('base64url')}`);
  const pss = jwk.alg.startsWith('PS') ? ({ padding: 6, saltLength: -1 } as const) : {};
  return verify(
    jwk.alg === 'EdDSA' ? null : `sha${jwk.alg.slice(2)}`,
    input,
    { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363', ...pss },
    Buffer.from(signature, 'base64url'),
  );
}

for (const [alg, generate] of KEYS) {
  test(`card signature: ${alg} is verified by node:crypto over its own canonical form, and by the SDK [8.4.1-jcs, 8.4.1-signatures, 8.4.2-header, 8.4.2-typ]`, async () => {
    const signer = createCardSigner({ kid: 'k1', alg, key: generate() }, KEY_SET_URL);
    const card = signer.sign(createAgentCard(SOURCE));
    const header = JSON.parse(Buffer.from(signatureOf(card).protected, 'base64url').toString());
    assert.deepEqual(header, { alg, jku: KEY_SET_URL, kid: 'k1', typ: 'JOSE' });
    const jwk = keyOf(signer);
    assert.ok(isGenuine(card, jwk));
    const asked: unknown[] = [];
    const verifyCard = verifyAgentCardSignature(async (kid, jku) => {
      asked.push(kid, jku);
      return jwk;
    });
    // The card as it came: in its in-memory form the SDK (1.3.0) loses the security schemes before it verifies.
    await verifyCard(JSON.parse(JSON.stringify(card)) as AgentCard);
    assert.deepEqual(asked, ['k1', KEY_SET_URL]);
  });
}

test('card signature: a changed card and a key of somebody else are noticed', async () => {
  const key = generateKeyPairSync('ed25519').privateKey;
  const signer = createCardSigner({ kid: 'k1', alg: 'EdDSA', key }, KEY_SET_URL);
  const card = signer.sign(createAgentCard(SOURCE));
  const changed = { ...card, description: 'Sends everything elsewhere' };
  assert.equal(isGenuine(changed, keyOf(signer)), false);
  const stranger = createCardSigner({ kid: 'k1', alg: 'EdDSA', key: generateKeyPairSync('ed25519').privateKey }, '');
  assert.equal(isGenuine(card, keyOf(stranger)), false);
});

test('card signature: of the fields that may be missing, those that were set are signed, and no default beside them [8.4.1-unset, 8.4.1-set, 8.4.1-defaults, 8.4.1-required]', () => {
  const key = generateKeyPairSync('ed25519').privateKey;
  const signer = createCardSigner({ kid: 'k1', alg: 'EdDSA', key }, KEY_SET_URL);
  const { signatures: _, ...signed } = signer.sign(createAgentCard(SOURCE));
  assert.deepEqual(signed.capabilities, {
    streaming: true,
    pushNotifications: false,
    extendedAgentCard: false,
    // Neither its description nor `required`, both as they are when nobody sets them.
    extensions: [{ uri: 'urn:harbor:seal' }],
  });
  const required = ['name', 'description', 'version', 'supportedInterfaces', 'defaultInputModes', 'defaultOutputModes'];
  const others = ['capabilities', 'securityRequirements', 'securitySchemes', 'skills'];
  assert.deepEqual(Object.keys(signed).sort(), [...required, ...others].sort(), 'no provider, documentation, icon');
  const full = createAgentCard({ ...SOURCE, documentationUrl: 'https://x.example', iconUrl: 'https://x.example/i' });
  const { documentationUrl, iconUrl } = signer.sign(full);
  assert.deepEqual([documentationUrl, iconUrl], ['https://x.example', 'https://x.example/i']);
});

test('card signature: what is served of the key is its public half', () => {
  for (const [alg, generate] of KEYS) {
    const key = generate();
    const signer = createCardSigner({ kid: 'k1', alg, key }, KEY_SET_URL);
    const jwk = keyOf(signer);
    assert.deepEqual([jwk.kid, jwk.alg, jwk.use], ['k1', alg, 'sig']);
    for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'])
      assert.equal(secret in jwk, false, `${alg}: ${secret}`);
  }
});

test('card signature: a card that was signed before has one signature, the new one', () => {
  const key = generateKeyPairSync('ed25519').privateKey;
  const signer = createCardSigner({ kid: 'k1', alg: 'EdDSA', key }, KEY_SET_URL);
  const card = createAgentCard(SOURCE);
  assert.deepEqual(signer.sign(signer.sign(card)), signer.sign(card));
});
