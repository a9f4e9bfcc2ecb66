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

describe('message key: proto names', () => {
  const call = (message: JsonObject, more: JsonObject = {}, jti = 'jti-1') =>
    prepareCall(
      { method: 'SendMessage', params: { message, ...more } },
      { installationId: 'i', principal: ALICE, jti, digest, chatDeadlineMs: 1, itemDeadlineMs: 2 },
    );
  const parts = [
    { text: 'Do it', media_type: '' },
    { data: MENTION, media_type: 'application/json' },
  ];
  const jsonParts = [{ text: 'Do it' }, { data: MENTION, mediaType: 'application/json' }];

  test('message_id is the id: a repeat is no new work', () => {
    const first = call({ message_id: 'm1', role: 'ROLE_USER', parts }, {}, 'jti-1');
    assert.deepEqual(call({ message_id: 'm1', role: 'ROLE_USER', parts }, {}, 'jti-2'), first);
    assert.equal(first.key, undefined);
    assert.equal((first.params.message as JsonObject).messageId, 'm1');
  });

  test('a message is prepared and keyed alike under both names', () => {
    const ids = { contextId: 'c', taskId: 't', referenceTaskIds: ['r'] };
    const protoIds = { context_id: 'c', task_id: 't', reference_task_ids: ['r'] };
    for (const id of ['request-id-missing', '', 'm1']) {
      for (const [named, proto] of [
        [{}, { context_id: '', task_id: '', reference_task_ids: [] }],
        [ids, protoIds],
      ] as const) {
        const configuration = { acceptedOutputModes: ['text/plain'], historyLength: 2, returnImmediately: true };
        const protoConfiguration = {
          ...{ accepted_output_modes: ['text/plain'], history_length: 2, return_immediately: true },
          task_push_notification_config: null,
        };
        assert.deepEqual(
          call({ message_id: id, role: 'ROLE_USER', parts, ...proto }, { configuration: protoConfiguration }),
          call({ messageId: id, role: 'ROLE_USER', parts: jsonParts, ...named }, { configuration }),
        );
      }
    }
  });

  test('the JSON name counts when both are there', () => {
    const { params } = call({ messageId: 'm1', message_id: 'm2', role: 'ROLE_USER', parts: jsonParts });
    assert.deepEqual(params.message, { messageId: 'm1', role: 'ROLE_USER', parts: jsonParts });
  });

  test('what people wrote keeps its names', () => {
    const data = { ...MENTION, message_id: 'x', task_id: '' };
    const metadata = { context_id: '' };
    const { params } = call({ messageId: 'm1', role: 'ROLE_USER', parts: [{ data }], metadata });
    assert.deepEqual(params.message, { messageId: 'm1', role: 'ROLE_USER', parts: [{ data }], metadata });
  });

  test('task methods take task_id for an id, lists keep their filter', () => {
    const options = { installationId: 'i', principal: ALICE, jti: 'j', digest, chatDeadlineMs: 1, itemDeadlineMs: 2 };
    const paramsOf = (method: string, params: JsonObject) => prepareCall({ method, params }, options).params;
    assert.deepEqual(paramsOf('GetTask', { task_id: 't', id: '' }), { id: 't' });
    assert.deepEqual(paramsOf('ListTasks', { context_id: '', page_token: '', page_size: 5 }), { page_size: 5 });
  });
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
