import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type PrepareOptions, prepareCall } from '../../adapters/rovo/prepare.ts';
import { isDomainError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/message.ts';
import { AGENT_ACCOUNT, ALICE, digest, INSTALLATION } from './world.ts';

const accounts = { userAccountId: ALICE, agentAccountId: AGENT_ACCOUNT };
const issue = (id: string) => ({ id, fields: { key: 'SHOP-1', summary: 'Discount' } });
const MENTION = {
  ...accounts,
  invocationType: 'ISSUE_COMMENT_MENTION',
  issue: issue('10001'),
  comment: { id: '91283', body: 'why?' },
};
const ASSIGNMENT = { ...accounts, invocationType: 'ISSUE_ASSIGNMENT', issue: issue('10001') };
const AUTOMATION = { ...accounts, invocationType: 'AUTOMATION', automation: { prompt: 'Summarise' } };

type Source = Partial<Pick<PrepareOptions, 'installationId' | 'principal' | 'jti'>>;

function prepared(sent: { data?: Json | undefined; source?: Source; more?: JsonObject }) {
  const { data, source = {}, more = {} } = sent;
  const principal = source.principal ?? ALICE;
  const own = data !== undefined && principal !== ALICE ? { ...(data as JsonObject), userAccountId: principal } : data;
  const parts: readonly Json[] = [{ text: 'Do it' }, ...(own === undefined ? [] : [{ data: own }])];
  const message = { messageId: 'request-id-missing', role: 'ROLE_USER', parts, ...more };
  return prepareCall(
    { method: 'SendMessage', params: { message } },
    {
      installationId: INSTALLATION.id,
      jti: 'jti-1',
      digest,
      chatDeadlineMs: 1,
      itemDeadlineMs: 2,
      ...source,
      principal,
    },
  );
}

const key = (data?: Json, source?: Source, more?: JsonObject) =>
  prepared({ data, ...(source ? { source } : {}), ...(more ? { more } : {}) }).key;

describe('message key: which ids are none', () => {
  for (const messageId of ['request-id-missing', ' Request-Id-Missing ', '', '   ', null, 'null', 'undefined']) {
    test(`${JSON.stringify(messageId)} is replaced by the key`, () => {
      const { key: substitute, params } = prepared({ data: MENTION, more: { messageId } });
      assert.match(substitute ?? '', /^rovo-[\da-f]{64}$/);
      assert.equal((params.message as JsonObject).messageId, substitute);
    });
  }

  test('a missing id is replaced, so that the message can be stored', () => {
    const call = { method: 'SendMessage', params: { message: { role: 'ROLE_USER', parts: [{ text: 'x' }] } } };
    const options = { installationId: 'i', principal: ALICE, jti: 'j', digest, chatDeadlineMs: 1, itemDeadlineMs: 2 };
    const { key: substitute, params } = prepareCall(call, options);
    assert.equal((params.message as JsonObject).messageId, substitute);
  });

  for (const messageId of ['m1', 'b198b5e2-342b-4159-b9e0-c063ba627a4d', 'request-id-missing-not', 7]) {
    test(`${JSON.stringify(messageId)} is left alone`, () => {
      const { key: substitute, params } = prepared({ data: MENTION, more: { messageId } });
      assert.equal(substitute, undefined);
      assert.equal((params.message as JsonObject).messageId, messageId);
    });
  }
});

test('message key: a message of nothing but brackets is refused, not run out of stack on', () => {
  const nested = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as Json;
  assert.throws(
    () => key(undefined, {}, { parts: [{ data: { nested } }] }),
    (error: unknown) => isDomainError(error, 'INVALID_PARAMS'),
  );
});

describe('message key: a mention', () => {
  test('is the same whichever call brings it', () => {
    assert.equal(key(MENTION), key(MENTION, { jti: 'jti-2' }));
    const older = { ...MENTION, invocationType: '' };
    assert.equal(key(older), key(older, { jti: 'jti-2' }));
  });

  test('does not depend on how the sender orders names or prints defaults', () => {
    const turned = Object.fromEntries(Object.entries(MENTION).reverse());
    assert.equal(key(MENTION), key(turned, {}, { contextId: '', taskId: '', extensions: [] }));
  });

  test('differs by work item, comment, content, user and installation', () => {
    const keys = [
      key(MENTION),
      key({ ...MENTION, issue: issue('10002') }),
      key({ ...MENTION, comment: { ...MENTION.comment, id: '91284' } }),
      key({ ...MENTION, comment: { ...MENTION.comment, body: 'why not?' } }),
      key(MENTION, {}, { parts: [{ text: 'Other words' }, { data: MENTION }] }),
      key(MENTION, { principal: '557057:bob' }),
      key(MENTION, { installationId: 'bbbbbbbb-bbbb-4ccc-8ddd-eeeeeeeeeeee' }),
    ];
    assert.equal(new Set(keys).size, keys.length);
  });

  test("a second try in the mention's context is new work, unless one call repeats it", () => {
    const retry = { contextId: 'c1' };
    assert.notEqual(key(MENTION, { jti: 'jti-2' }, retry), key(MENTION, { jti: 'jti-3' }, retry));
    assert.equal(key(MENTION, { jti: 'jti-2' }, retry), key(MENTION, { jti: 'jti-2' }, retry));
  });

  test('one without a comment id cannot be told from another and is keyed by its call', () => {
    const nameless = { ...MENTION, comment: { body: 'why?' } };
    assert.notEqual(key(nameless), key(nameless, { jti: 'jti-2' }));
  });
});

for (const [what, data] of [
  ['an assignment', ASSIGNMENT],
  ['an automation', AUTOMATION],
  ['a chat', undefined],
  ['an unknown type', { ...ASSIGNMENT, invocationType: 'NEXT_YEAR' }],
] as const) {
  describe(`message key: ${what}`, () => {
    test('is the same for a repeat of one call', () => {
      assert.equal(key(data), key(data));
    });

    test('differs by call: better twice than the answer of an earlier one', () => {
      assert.notEqual(key(data), key(data, { jti: 'jti-2' }));
    });

    test('differs by content within one call', () => {
      assert.notEqual(key(data), key(data, {}, { parts: [{ text: 'Other words' }] }));
      assert.notEqual(key(data), key(data, {}, { contextId: 'c1' }));
    });
  });
}
