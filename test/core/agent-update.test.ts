import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LIMITS } from '../../core/limits.ts';
import { checkUpdate, storableText } from '../../core/runtime/agent-update.ts';

const SECRET = 'sk-live-token';
const artifact = (changes: object): object => ({ artifact: { artifactId: 'a', parts: [{ text: 'x' }], ...changes } });
const withPart = (part: unknown): object => artifact({ parts: [part] });
const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

describe('checkUpdate refuses', () => {
  const malformed: readonly (readonly [string, unknown, RegExp])[] = [
    ['nothing', undefined, /something that is not an object/],
    ['null', null, /something that is not an object/],
    ['a text', SECRET, /something that is not an object/],
    ['a list', [SECRET], /something that is not an object/],
    ['a function', () => SECRET, /something that is not an object/],
    ['an empty object', {}, /neither a known state, an artifact nor a reply/],
    ['an unknown state', { state: SECRET }, /neither a known state/],
    ['a 0.3 state', { state: 'completed' }, /neither a known state/],
    ['a state that only the service sets', { state: 'TASK_STATE_SUBMITTED' }, /neither a known state/],
    ['a state and an artifact', { state: 'TASK_STATE_WORKING', ...artifact({}) }, /state and artifact in one update/],
    ['a state and a reply', { state: 'TASK_STATE_WORKING', reply: SECRET }, /state and reply in one update/],
    ['an artifact and a reply', { reply: SECRET, ...artifact({}) }, /artifact and reply in one update/],
    ['a message that is a number', { state: 'TASK_STATE_WORKING', message: 5 }, /a message that is neither text nor/],
    [
      'a message that is one part',
      { state: 'TASK_STATE_WORKING', message: { text: SECRET } },
      /neither text nor parts/,
    ],
    ['null as a message', { state: 'TASK_STATE_WORKING', message: null }, /a message that is neither text nor parts/],
    [
      'status metadata that is a list',
      { state: 'TASK_STATE_WORKING', metadata: [SECRET] },
      /status metadata that is not/,
    ],
    ['null as metadata', { state: 'TASK_STATE_WORKING', metadata: null }, /status metadata that is not an object/],
    ['an empty reply', { reply: '' }, /an empty reply/],
    ['a reply without parts', { reply: [] }, /an empty reply/],
    ['a reply that is null', { reply: null }, /a reply that is neither text nor parts/],
    ['a reply that is a number', { reply: 7 }, /a reply that is neither text nor parts/],
    ['an artifact that is a text', { artifact: SECRET }, /an artifact that is not an object/],
    ['an artifact without an id', { artifact: { parts: [{ text: 'x' }] } }, /without an artifactId/],
    ['an artifact with a blank id', artifact({ artifactId: '  ' }), /without an artifactId/],
    ['an artifact with a numeric id', artifact({ artifactId: 1 }), /without an artifactId/],
    [
      'an artifact id of 257 bytes',
      artifact({ artifactId: 'é'.repeat(129) }),
      /without an artifactId of 1 to 256 bytes/,
    ],
    ['an artifact id with a line break', artifact({ artifactId: 'a\nb' }), /without control characters|artifactId/],
    ['an artifact id with half a pair', artifact({ artifactId: 'a\ud800' }), /without an artifactId/],
    ['an artifact without parts', artifact({ parts: [] }), /an artifact without parts/],
    [
      'an artifact with no parts at all',
      artifact({ parts: undefined }),
      /artifact parts that are|neither text nor parts/,
    ],
    ['an artifact name that is a number', artifact({ name: 5 }), /an artifact name that is not a string/],
    ['a description that is an object', artifact({ description: {} }), /an artifact description that is not a string/],
    ['artifact metadata that is a text', artifact({ metadata: SECRET }), /artifact metadata that is not an object/],
    ['extensions that are no list', artifact({ extensions: SECRET }), /artifact extensions that are not a list/],
    ['extensions that are no texts', artifact({ extensions: [1] }), /artifact extensions that are not a list of texts/],
    ['append as a text', { ...artifact({}), append: 'true' }, /an append that is neither true nor false/],
    ['lastChunk as a number', { ...artifact({}), lastChunk: 1 }, /a lastChunk that is neither true nor false/],
    ['a part that is a text', withPart(SECRET), /a part that is not an object/],
    ['a part without content', withPart({ filename: SECRET }), /without exactly one of text, raw, url and data/],
    [
      'a part with two contents',
      withPart({ text: 'x', url: SECRET }),
      /without exactly one of text, raw, url and data/,
    ],
    ['a 0.3 part', withPart({ kind: 'file', file: { uri: SECRET } }), /without exactly one of text/],
    ['a text that is a number', withPart({ text: 5 }), /a part whose text is not a string/],
    ['a text that is null', withPart({ text: null }), /a part whose text is not a string/],
    ['raw bytes as a buffer', withPart({ raw: Buffer.from(SECRET) }), /a part whose raw is not a string/],
    ['raw that is not base64', withPart({ raw: 'sk live!' }), /a part whose raw is not base64/],
    ['a url that is an object', withPart({ url: {} }), /a part whose url is not a string/],
    ['a filename that is a list', withPart({ text: 'x', filename: [SECRET] }), /a filename that is not a string/],
    ['a mediaType that is a number', withPart({ text: 'x', mediaType: 1 }), /a mediaType that is not a string/],
    ['part metadata that is a text', withPart({ text: 'x', metadata: SECRET }), /part metadata that is not an object/],
    ['data with a function', withPart({ data: { f: () => SECRET } }), /a data part that is not JSON/],
    ['data with undefined in a list', withPart({ data: [undefined] }), /a data part that is not JSON/],
    ['data that is a BigInt', withPart({ data: 1n }), /a data part that is not JSON/],
    ['data that is a date', withPart({ data: { at: new Date() } }), /a data part that is not JSON/],
    ['data that is a map', withPart({ data: new Map([[SECRET, 1]]) }), /a data part that is not JSON/],
    ['data with NaN', withPart({ data: Number.NaN }), /a data part with a number JSON has not/],
    ['data with Infinity', withPart({ data: [Infinity] }), /a data part with a number JSON has not/],
    ['data in a circle', withPart({ data: cyclic }), /a data part nested deeper than 64/],
    [
      'metadata that is too long',
      artifact({ metadata: { note: 'x'.repeat(LIMITS.metadataChars) } }),
      /of more than 16384/,
    ],
  ];
  for (const [name, value, message] of malformed) {
    it(`${name}, saying what is wrong without the value [4.1.7-parts]`, () => {
      assert.throws(
        () => checkUpdate(value),
        (error) => error instanceof TypeError && message.test(error.message) && !/sk.live/.test(error.message),
      );
    });
  }

  it('anything that is no update, always with a TypeError', () => {
    fc.assert(
      fc.property(
        fc.anything({ withDate: true, withMap: true, withBigInt: true, withNullPrototype: true }),
        (value) => {
          try {
            checkUpdate(value);
          } catch (error) {
            assert.ok(error instanceof TypeError);
            assert.match(error.message, /^The agent yielded /);
          }
        },
      ),
    );
  });
});

describe('checkUpdate keeps', () => {
  it('a status with a text', () => {
    assert.deepEqual(checkUpdate({ state: 'TASK_STATE_COMPLETED', message: 'Done.', metadata: { a: [null] } }), {
      kind: 'status',
      state: 'TASK_STATE_COMPLETED',
      parts: [{ text: 'Done.' }],
      metadata: { a: [null] },
    });
  });

  it('a status without words, and one whose text is empty', () => {
    const silent = { kind: 'status', state: 'TASK_STATE_WORKING', parts: [] };
    assert.deepEqual(checkUpdate({ state: 'TASK_STATE_WORKING' }), silent);
    assert.deepEqual(checkUpdate({ state: 'TASK_STATE_WORKING', message: '' }), silent);
    assert.deepEqual(checkUpdate({ state: 'TASK_STATE_WORKING', message: undefined, metadata: undefined }), silent);
  });

  it('every field of an artifact', () => {
    const full = {
      artifactId: 'a',
      name: 'Brief',
      description: 'What it is',
      parts: [
        { text: 'x', filename: 'x.md', mediaType: 'text/markdown', metadata: { a: 1 } },
        { raw: 'aGk=' },
        { raw: '_-8' },
        { url: 'https://example.com' },
        { data: null, mediaType: 'application/json' },
        { data: { a: [1, 'b', false, null, { c: 0 }] } },
      ],
      metadata: { m: 'x' },
      extensions: ['urn:x'],
    };
    assert.deepEqual(checkUpdate({ artifact: full, append: true, lastChunk: true }), {
      kind: 'artifact',
      artifact: full,
      append: true,
      lastChunk: true,
    });
  });

  it('a reply as text or parts', () => {
    assert.deepEqual(checkUpdate({ reply: 'hi' }), { kind: 'reply', parts: [{ text: 'hi' }] });
    assert.deepEqual(checkUpdate({ reply: [{ data: 1 }] }), { kind: 'reply', parts: [{ data: 1 }] });
  });

  it('printed defaults as absent, unknown fields not at all', () => {
    const parts = [{ text: 'x', filename: '', mediaType: '', kind: 'text' }];
    assert.deepEqual(checkUpdate({ artifact: { artifactId: 'a', name: '', parts, extensions: [] }, id: 7 }), {
      kind: 'artifact',
      artifact: { artifactId: 'a', parts: [{ text: 'x' }] },
      append: false,
      lastChunk: false,
    });
  });

  it('a member named __proto__ as a member', () => {
    const data = JSON.parse('{"__proto__":{"admin":true}}');
    const checked = checkUpdate(withPart({ data }));
    assert.equal(
      JSON.stringify(checked.kind === 'artifact' && checked.artifact.parts),
      `[{"data":${JSON.stringify(data)}}]`,
    );
  });

  it('any JSON as it is', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: 'grapheme' }), text, (data, note) => {
        const stored = JSON.parse(JSON.stringify(data));
        const checked = checkUpdate(withPart({ data: stored, metadata: { note } }));
        if (checked.kind !== 'artifact') assert.fail();
        assert.deepEqual(checked.artifact.parts, [{ data: stored, metadata: { note } }]);
      }),
    );
  });

  it('nothing that the agent can change afterwards', () => {
    const data = { list: [1] };
    const checked = checkUpdate(withPart({ data }));
    data.list.push(2);
    assert.deepEqual(checked.kind === 'artifact' && checked.artifact.parts, [{ data: { list: [1] } }]);
  });

  it('labels cut between characters', () => {
    const checked = checkUpdate(artifact({ name: `${'x'.repeat(LIMITS.labelChars - 1)}😀` }));
    assert.equal(checked.kind === 'artifact' && checked.artifact.name, `${'x'.repeat(LIMITS.labelChars - 1)}…`);
  });
});

describe('storableText', () => {
  const bad = ['\0', '\ud83d', '\ude00'];

  it('replaces NUL and halves of pairs, and keeps everything else', () => {
    assert.equal(storableText('a\0b\ud83dc\ude00d😀\ud83d😀'), 'a\ufffdb\ufffdc\ufffdd😀\ufffd😀');
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...bad))), (pieces) => {
        const text = storableText(pieces.join(''));
        assert.match(text, /^[^\0\p{Surrogate}]*$/u);
        assert.equal(text.length, pieces.join('').length);
        assert.equal(storableText(text), text);
      }),
    );
  });

  it('holds wherever an agent may put text', () => {
    const text = 'a\0\ud800';
    const checked = checkUpdate({
      artifact: {
        artifactId: 'a',
        name: text,
        description: text,
        extensions: [text],
        metadata: { [text]: [text] },
        parts: [{ text, filename: text, mediaType: text, metadata: { text } }, { url: text }, { data: { text } }],
      },
    });
    const status = checkUpdate({ state: 'TASK_STATE_WORKING', message: text, metadata: { text } });
    const reply = checkUpdate({ reply: text });
    assert.doesNotMatch(JSON.stringify([checked, status, reply]), /\\u0000|\\ud800/);
  });
});
