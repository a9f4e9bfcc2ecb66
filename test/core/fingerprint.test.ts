import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { canonicalMessage } from '../../core/decide/fingerprint.ts';
import type { Json, Message } from '../../core/message.ts';

const BASE: Message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] };

function shuffled(value: Json): Json {
  if (Array.isArray(value)) return value.map(shuffled);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, shuffled(member)]),
  );
}

describe('canonicalMessage', () => {
  const same: readonly (readonly [string, Message])[] = [
    ['another messageId', { ...BASE, messageId: 'm2' }],
    ['an empty contextId', { ...BASE, contextId: '' }],
    ['an empty taskId', { ...BASE, taskId: '' }],
    ['empty metadata', { ...BASE, metadata: {} }],
    ['empty extensions', { ...BASE, extensions: [] }],
    ['empty referenceTaskIds', { ...BASE, referenceTaskIds: [] }],
    ['a part with printed defaults', { ...BASE, parts: [{ text: 'hi', filename: '', mediaType: '', metadata: {} }] }],
    ['an unknown field', { ...BASE, kind: 'message' } as Message],
    ['fields in another order', { parts: BASE.parts, role: BASE.role, messageId: BASE.messageId }],
  ];
  for (const [name, message] of same) {
    it(`${name} is the same message`, () => assert.equal(canonicalMessage(message), canonicalMessage(BASE)));
  }

  const other: readonly (readonly [string, Message])[] = [
    ['another text', { ...BASE, parts: [{ text: 'ho' }] }],
    ['one more part', { ...BASE, parts: [{ text: 'hi' }, { text: '' }] }],
    ['the text cut in two parts', { ...BASE, parts: [{ text: 'h' }, { text: 'i' }] }],
    ['the same content in another arm', { ...BASE, parts: [{ data: 'hi' }] }],
    ['a raw part', { ...BASE, parts: [{ raw: 'hi' }] }],
    ['a url part', { ...BASE, parts: [{ url: 'hi' }] }],
    ['another role', { ...BASE, role: 'ROLE_AGENT' }],
    ['a contextId', { ...BASE, contextId: 'c' }],
    ['a taskId', { ...BASE, taskId: 'c' }],
    ['metadata', { ...BASE, metadata: { a: 1 } }],
    ['a media type', { ...BASE, parts: [{ text: 'hi', mediaType: 'text/plain' }] }],
    ['a filename', { ...BASE, parts: [{ text: 'hi', filename: 'a' }] }],
    ['part metadata', { ...BASE, parts: [{ text: 'hi', metadata: { a: 1 } }] }],
    ['an extension', { ...BASE, extensions: ['urn:x'] }],
    ['a reference', { ...BASE, referenceTaskIds: ['t'] }],
  ];
  for (const [name, message] of other) {
    it(`${name} is another message`, () => assert.notEqual(canonicalMessage(message), canonicalMessage(BASE)));
  }

  it('data: null, false, 0, an empty text and an empty list are five messages', () => {
    const values: readonly Json[] = [null, false, 0, '', []];
    assert.equal(new Set(values.map((data) => canonicalMessage({ ...BASE, parts: [{ data }] }))).size, 5);
  });

  it('the order of keys at any depth does not matter, the order of lists does', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const data = value as Json;
        const message = { ...BASE, parts: [{ data }], metadata: { data } };
        const turned = { ...BASE, parts: [{ data: shuffled(data) }], metadata: { data: shuffled(data) } };
        assert.equal(canonicalMessage(turned), canonicalMessage(message));
      }),
    );
    assert.notEqual(
      canonicalMessage({ ...BASE, parts: [{ data: [1, 2] }] }),
      canonicalMessage({ ...BASE, parts: [{ data: [2, 1] }] }),
    );
  });

  it('different data never share a text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }), (one, two) => {
        const texts = [one, two].map((data) => canonicalMessage({ ...BASE, parts: [{ data: data as Json }] }));
        const stored = [one, two].map((value) => JSON.parse(JSON.stringify(value)));
        let equal = true;
        try {
          assert.deepEqual(stored[0], stored[1]);
        } catch {
          equal = false;
        }
        assert.equal(texts[0] === texts[1], equal);
      }),
    );
  });
});
