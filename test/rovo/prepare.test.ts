import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Prepared, type PrepareOptions, prepareCall } from '../../adapters/rovo/prepare.ts';
import { isDomainError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/message.ts';
import { AGENT_ACCOUNT, ALICE, digest, INSTALLATION } from './world.ts';

const OPTIONS: PrepareOptions = {
  installationId: INSTALLATION.id,
  principal: ALICE,
  jti: 'a'.repeat(40),
  digest,
  chatDeadlineMs: 1_740_000,
  itemDeadlineMs: 3_540_000,
};
const accounts = { userAccountId: ALICE, agentAccountId: AGENT_ACCOUNT };
const issue = { id: '10001', fields: { key: 'SHOP-1', summary: 'Discount', description: 'Steps' } };
const comment = { id: '91283', body: `[@Agent](~${AGENT_ACCOUNT}) why?` };
const ASSIGNMENT = { ...accounts, invocationType: 'ISSUE_ASSIGNMENT', issue };
const MENTION = { ...accounts, invocationType: 'ISSUE_COMMENT_MENTION', issue, comment };
const AUTOMATION = { ...accounts, invocationType: 'AUTOMATION', automation: { prompt: 'Summarise the week' } };

/** As Jira's client prints it, proto defaults and all. */
function message(data?: Json, more: JsonObject = {}): JsonObject {
  const text = { text: 'You have work to do.', filename: '', mediaType: '' };
  return {
    messageId: 'a198b5e2-342b-4159-b9e0-c063ba627a4c',
    contextId: '',
    taskId: '',
    role: 'ROLE_USER',
    parts: data === undefined ? [text] : [text, { data, filename: '', mediaType: '' }],
    extensions: [],
    referenceTaskIds: [],
    ...more,
  };
}

function prepare(sent: JsonObject, options: Partial<PrepareOptions> = {}): Prepared {
  const params = { tenant: '', message: sent, configuration: { acceptedOutputModes: [], returnImmediately: false } };
  return prepareCall({ method: 'SendMessage', params }, { ...OPTIONS, ...options });
}

function refused(params: JsonObject, field: string): void {
  assert.throws(
    () => prepareCall({ method: 'SendMessage', params }, OPTIONS),
    (error: unknown) => isDomainError(error, 'INVALID_PARAMS') && error.violations[0]?.field === field,
  );
}

describe('prepare: proto defaults', () => {
  test('empty fields count as absent, everywhere that Jira prints them', () => {
    assert.deepEqual(prepare(message(ASSIGNMENT)).params, {
      message: {
        messageId: 'a198b5e2-342b-4159-b9e0-c063ba627a4c',
        role: 'ROLE_USER',
        parts: [{ text: 'You have work to do.' }, { data: ASSIGNMENT }],
      },
      configuration: { returnImmediately: false },
    });
  });

  test('what people wrote stays as it came', () => {
    const data = { contextId: '', list: [], mediaType: '', nothing: null };
    const { params } = prepare(message(data, { metadata: { taskId: '' }, parts: [{ text: '' }, { data }] }));
    const sent = params.message as JsonObject;
    assert.deepEqual(sent.parts, [{ text: '' }, { data }]);
    assert.deepEqual(sent.metadata, { taskId: '' });
  });

  test('filled fields stay', () => {
    const sent = message(undefined, { contextId: 'c', taskId: 't', referenceTaskIds: ['r'], extensions: ['e'] });
    const { contextId, taskId, referenceTaskIds, extensions } = prepare(sent).params.message as JsonObject;
    assert.deepEqual(
      { contextId, taskId, referenceTaskIds, extensions },
      { contextId: 'c', taskId: 't', referenceTaskIds: ['r'], extensions: ['e'] },
    );
  });

  test('parameters that are no message at all are left to the validation', () => {
    for (const sent of [null, 7, 'text', [], {}] as const) {
      for (const method of ['SendMessage', 'GetTask', 'Unknown']) {
        prepareCall({ method, params: { message: sent, configuration: sent } }, OPTIONS);
      }
    }
    prepare(message(undefined, { parts: 'none' }));
    prepare(message(undefined, { parts: [null, 7, 'x', [], { data: null }, { data: [1] }] }));
  });
});

describe('prepare: tenant and ids', () => {
  test('an empty tenant is dropped, any other is refused', () => {
    for (const tenant of ['', null]) {
      assert.deepEqual(prepareCall({ method: 'GetTask', params: { tenant, id: 't' } }, OPTIONS).params, { id: 't' });
    }
    for (const tenant of ['t2', ' ', `rovo:${INSTALLATION.id}`, 7, {}])
      refused({ tenant, message: message() }, 'tenant');
  });

  for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask']) {
    test(`${method}: taskId stands in for a missing id`, () => {
      const params = (sent: JsonObject) => prepareCall({ method, params: sent }, OPTIONS).params;
      assert.deepEqual(params({ taskId: 't' }), { id: 't' });
      assert.deepEqual(params({ id: '', taskId: 't', historyLength: 0 }), { id: 't', historyLength: 0 });
      assert.equal(params({ id: 'a', taskId: 'b' }).id, 'a');
      assert.deepEqual(params({ id: 't', taskId: '' }), { id: 't' });
    });
  }

  test('methods that have a taskId of their own keep it', () => {
    const call = { method: 'GetTaskPushNotificationConfig', params: { taskId: 't', id: 'c' } };
    assert.deepEqual(prepareCall(call, OPTIONS).params, { taskId: 't', id: 'c' });
  });
});

describe('prepare: who', () => {
  test('a data part that names another user is refused, wherever it stands', () => {
    for (const userAccountId of ['557057:mallory', 7, [ALICE], ALICE.toUpperCase()]) {
      refused({ message: message({ ...ASSIGNMENT, userAccountId }) }, 'message.parts');
      const parts = [{ data: ASSIGNMENT }, { data: { userAccountId } }];
      refused({ message: message(undefined, { parts }) }, 'message.parts');
    }
    for (const userAccountId of ['', null, ALICE]) prepare(message({ ...ASSIGNMENT, userAccountId }));
  });

  test("the delegate is Jira's account of the agent, and only a usable one", () => {
    assert.equal(prepare(message(ASSIGNMENT)).delegate, AGENT_ACCOUNT);
    assert.equal(prepare(message()).delegate, undefined);
    for (const agentAccountId of ['', 'a\nb', {}, 'x'.repeat(300)]) {
      assert.equal(prepare(message({ ...ASSIGNMENT, agentAccountId })).delegate, undefined);
    }
  });
});

describe('prepare: deadline', () => {
  const older = { ...accounts, issue: { id: '10001' } };
  for (const [what, data, expected] of [
    ['a chat', undefined, OPTIONS.chatDeadlineMs],
    ['a chat in the older form', { ...older, chat: { message: 'and now?' } }, OPTIONS.chatDeadlineMs],
    ['data of somebody else', { colour: 'red' }, OPTIONS.chatDeadlineMs],
    ['an assignment', ASSIGNMENT, OPTIONS.itemDeadlineMs],
    ['an assignment in the older form', older, OPTIONS.itemDeadlineMs],
    ['a mention', MENTION, OPTIONS.itemDeadlineMs],
    ['an automation rule', AUTOMATION, OPTIONS.itemDeadlineMs],
    ['a type of next year', { ...ASSIGNMENT, invocationType: 'ISSUE_TRANSITION' }, OPTIONS.itemDeadlineMs],
  ] as const) {
    test(`${what}: ${expected} ms`, () => {
      assert.equal(prepare(message(data)).deadlineMs, expected);
    });
  }
});
