import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AGENT_ACCOUNT } from '../../simulator/site/people.ts';
import { startWorld, type World } from '../e2e/world.ts';
import { until } from '../support/until.ts';

/* Jira as it calls an agent connector whose manifest has no `version: "1.0"`: A2A 0.3, and no header that says so. */

let world: World;
before(async () => {
  world = await startWorld({ agent: 'brief', settings: { ROVO_VERSIONS: '1.0,0.3' } });
});
after(() => world.close());

interface LegacyTask {
  readonly kind: string;
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly message?: { readonly parts: readonly { text?: string }[] } };
}

/** Params of message/send as they come, empty fields among them. */
function assignment(changes: object = {}) {
  const { records } = world.atlassian.site;
  const { id, summary } = records.item('SHOP-1') ?? assert.fail('no such work item');
  const data = {
    userAccountId: records.person('alice').accountId,
    agentAccountId: AGENT_ACCOUNT.accountId,
    issue: { id, fields: { summary, description: 'as it stands there' } },
  };
  return {
    message: {
      role: 'user',
      parts: [
        { kind: 'text', text: 'You have been assigned to a work item. Get started.', metadata: null },
        { kind: 'data', data },
      ],
      messageId: 'request-id-missing',
      kind: 'message',
      contextId: '',
      taskId: '',
      ...changes,
    },
    configuration: { acceptedOutputModes: [], blocking: true, pushNotificationConfig: null },
    metadata: {},
  };
}

async function ask(method: string, params: object, a2aVersion: string | null = null) {
  const answer = await world.jira().rpc(method, params, { a2aVersion });
  assert.equal(answer.status, 200, answer.text);
  return { task: answer.result as LegacyTask | undefined, error: answer.error, text: answer.text };
}

async function ended(id: string): Promise<LegacyTask> {
  return until('the task has ended', async () => {
    const { task } = await ask('tasks/get', { id });
    return task?.status.state === 'completed' && task;
  });
}

for (const version of [null, '', '0.3']) {
  test(`Rovo 0.3: an assignment with A2A-Version ${JSON.stringify(version)} is answered in 0.3, with what Jira shows its user`, async () => {
    const { task, text } = await ask('message/send', assignment(), version);
    assert.equal(task?.kind, 'task', text);
    const done = await ended(task?.id ?? '');
    assert.equal(done.kind, 'task');
    assert.match(done.status.message?.parts.map((part) => part.text ?? '').join('') ?? '', /SHOP-1/);
  });
}

test('Rovo 0.3: two assignments without an id of their own are two tasks', async () => {
  const first = await ask('message/send', assignment());
  const second = await ask('message/send', assignment());
  assert.notEqual(first.task?.id, second.task?.id);
});

test('Rovo 0.3: a follow-up with the context goes on in it, also when it names a task that has ended', async () => {
  const { task } = await ask('message/send', assignment());
  const { id: taskId, contextId } = await ended(task?.id ?? '');
  const more = await ask('message/send', assignment({ contextId, taskId, messageId: 'm2' }));
  assert.equal(more.task?.contextId, contextId, more.text);
  assert.notEqual(more.task?.id, taskId);
});

test('Rovo 0.3: task methods take taskId for id, and know their errors', async () => {
  const { task } = await ask('message/send', assignment());
  assert.equal((await ask('tasks/get', { taskId: task?.id })).task?.id, task?.id);
  await ended(task?.id ?? '');
  assert.equal((await ask('tasks/cancel', { taskId: task?.id })).error?.code, -32002);
  assert.equal((await ask('tasks/get', { id: 'nope' })).error?.code, -32001);
});

test('Rovo 0.3: a message in the name of somebody else is refused', async () => {
  const params = assignment();
  const [text, part] = params.message.parts;
  const data = { ...(part as { data: object }).data, userAccountId: '557057:somebody-else' };
  const refused = await ask('message/send', {
    ...params,
    message: { ...params.message, parts: [text, { ...part, data }] },
  });
  assert.equal(refused.error?.code, -32602);
});

test('Rovo 0.3: beside it 1.0 is what it was, with and without its header', async () => {
  for (const a2aVersion of [null, '1.0']) {
    const sent = await world.jira().assign('SHOP-1').sync({ a2aVersion });
    assert.deepEqual([sent.faults, sent.error], [[], undefined]);
    assert.ok(sent.task?.id);
    assert.equal((await world.jira().get(String(sent.task?.id), { a2aVersion })).task?.id, sent.task?.id);
  }
});

test('Rovo 0.3: a method is of the version that the header says, if it says one', async () => {
  assert.equal((await ask('SendMessage', {}, '0.3')).error?.code, -32601);
  assert.equal((await ask('message/send', assignment(), '1.0')).error?.code, -32601);
  assert.equal((await ask('Foo', {})).error?.code, -32601);
  assert.equal((await ask('tasks/get', { id: 'x' }, '2.0')).error?.code, -32009);
});

test('Rovo 0.3: alone, a call of 1.0 is told what is served', async () => {
  const service = await world.start({ ROVO_VERSIONS: '0.3' });
  const jira = world.jira(service);
  assert.equal((await jira.rpc('tasks/get', { id: 'nope' }, { a2aVersion: null })).error?.code, -32001);
  const refused = await jira.rpc('GetTask', { id: 'nope' }, { a2aVersion: '1.0' });
  assert.equal(refused.error?.code, -32009);
  assert.equal((await jira.rpc('GetTask', { id: 'nope' }, { a2aVersion: null })).error?.code, -32601);
});
