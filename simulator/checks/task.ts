import { randomUUID } from 'node:crypto';
import { isPolled, isTerminal, statusText } from '../client/a2a.ts';
import { PLACEHOLDER_MESSAGE_ID } from '../client/messages.ts';
import { JIRA_LIMITS } from '../limits.ts';
import { type Bench, brief, type Check, fail, must, mustBeClean, mustBeTaken, mustWork, skip } from './check.ts';

/** A task that is still running when this returns. */
async function startSlow({ client, slowItem }: Bench, ms: number): Promise<string> {
  const first = await client.assign(slowItem(ms).key).stream({ cutAfterFrames: 1 });
  const { id } = mustWork(first, 'stream');
  const now = mustWork(await client.get(id), 'GetTask');
  if (isTerminal(now.status.state)) skip('the agent did not wait for its work item');
  return id;
}

export const TASK_CHECKS: readonly Check[] = [
  {
    id: 'task.assignment',
    rule: 'An assignment becomes a task and completes with a text for people',
    async run({ client, item }) {
      const done = await client.assign(item({ summary: 'Tidy the harbour lights' }).key).run();
      mustBeClean(done.faults, 'answer');
      must(
        done.task?.status.state === 'TASK_STATE_COMPLETED',
        `${done.outcome}: ${done.task?.status.state ?? done.error?.message}`,
      );
      must(statusText(done.task).trim() !== '', 'no text in the completed status');
      return `${done.states.length} states, "${brief(statusText(done.task), 50)}"`;
    },
  },
  {
    id: 'task.strict',
    rule: 'SendMessage and GetTask answer in the fields of the schema only',
    async run({ client, item }) {
      const sent = await client.mention(item().key, 'what is this about?').sync();
      mustBeClean(sent.faults, 'SendMessage');
      const id = mustWork(sent, 'SendMessage').id;
      const got = await client.get(id);
      mustBeClean(got.faults, 'GetTask');
      must(got.task?.contextId !== undefined && got.task.contextId !== '', 'no contextId');
      const message = got.task.status.message;
      must(message?.contextId !== '' && message?.taskId !== '', 'a blank id in the status message');
      return 'no fault';
    },
  },
  {
    id: 'task.automation',
    rule: 'An automation, which names no work item, is taken',
    async run({ client }) {
      const answer = await client.automation('List what is due this week').sync();
      mustBeClean(answer.faults, 'answer');
      return mustBeTaken(answer, 'automation');
    },
  },
  {
    id: 'task.unknown-type',
    rule: 'An invocationType that nobody knows does not fail',
    async run({ client }) {
      const { message, ...rest } = client.automation('Say hello').params;
      const parts = message.parts.map((part) => ('data' in part ? { data: { invocationType: 'FUTURE_TYPE' } } : part));
      const answer = await client.rpc('SendMessage', { ...rest, message: { ...message, parts } });
      return mustBeTaken(answer, 'FUTURE_TYPE');
    },
  },
  {
    id: 'task.retry',
    rule: 'The same message sent again, also at once, is the same task',
    async run({ client, item }) {
      const invocation = client.assign(item().key);
      const answers = await Promise.all(Array.from({ length: 5 }, () => invocation.sync()));
      answers.push(await invocation.sync());
      const ids = new Set(answers.map((answer) => mustWork(answer, 'repeat').id));
      must(ids.size === 1, `${ids.size} tasks for one message`);
      return '6 sends, 1 task';
    },
  },
  {
    id: 'task.conflict',
    rule: 'A used messageId with other content is refused (-32602)',
    async run({ client, item }) {
      const messageId = randomUUID();
      mustWork(await client.assign(item().key, { messageId }).sync(), 'first');
      const other = await client.assign(item().key, { messageId }).sync();
      must(other.error?.code === -32602, other.error ? String(other.error.code) : 'it was taken');
      return '-32602';
    },
  },
  {
    id: 'task.placeholder',
    rule: `messageId "${PLACEHOLDER_MESSAGE_ID}" of two mentions makes two tasks`,
    async run({ client, item }) {
      const { key } = item();
      const ids = { messageId: PLACEHOLDER_MESSAGE_ID };
      const first = mustWork(await client.mention(key, 'one', ids).sync(), 'first').id;
      const second = mustWork(await client.mention(key, 'two', ids).sync(), 'second').id;
      must(first !== second, 'the second mention got the task of the first');
      const bob = mustWork(await client.mention(key, 'two', { ...ids, as: 'bob' }).sync(), "bob's").id;
      must(bob !== second && bob !== first, "bob got alice's task");
      return 'three mentions, three tasks';
    },
  },
  {
    id: 'task.blank-context',
    rule: 'contextId "" means none: a new context each time',
    async run({ client }) {
      const contexts = await Promise.all([client.chat('one').sync(), client.chat('two').sync()]);
      const [first, second] = contexts.map((answer) => mustWork(answer, 'chat').contextId);
      must(Boolean(first) && Boolean(second), 'no contextId');
      must(first !== second, 'both in one context');
      return 'two contexts';
    },
  },
  {
    id: 'task.follow-up',
    rule: 'A follow-up in chat stays in its context and is a new task after the first',
    async run({ client }) {
      const first = await client.chat('What is SHOP-1 about?').run();
      const contextId = mustWork(first, 'first').contextId ?? fail('no contextId');
      const next = await client.chat('And what blocks it?', { contextId }).run();
      mustBeClean(next.faults, 'follow-up');
      const task = mustWork(next, 'follow-up');
      must(task.contextId === contextId, `another context: ${task.contextId}`);
      const over = first.task && isTerminal(first.task.status.state);
      must(over ? task.id !== first.task?.id : true, 'a finished task was continued');
      return over ? 'same context, new task' : 'same context, same open task';
    },
  },
  {
    id: 'task.finished-id',
    rule: 'A message that names a finished task and its context starts a new task there',
    async run({ client }) {
      const first = await client.chat('What is SHOP-1 about?').run();
      const { contextId, id: taskId, status } = mustWork(first, 'first');
      if (!isTerminal(status.state)) skip(`the task is ${status.state}`);
      const next = await client.chat('Once more', { contextId: contextId ?? '', taskId }).sync();
      const task = mustWork(next, 'second');
      must(task.contextId === contextId && task.id !== taskId, brief(next.text));
      const alone = await client.chat('Once more', { taskId: randomUUID() }).sync();
      must(alone.error?.code === -32001, `an unknown taskId alone: ${alone.error?.code ?? 'taken'}`);
      return 'new task, -32001 for an unknown taskId alone';
    },
  },
  {
    id: 'task.get-by-task-id',
    rule: 'GetTask with taskId instead of id is understood',
    async run({ client, item }) {
      const id = mustWork(await client.assign(item().key).sync(), 'SendMessage').id;
      const got = await client.rpc('GetTask', { tenant: '', taskId: id });
      must(got.task?.id === id, brief(got.text));
      return 'same task';
    },
  },
  {
    id: 'task.account',
    rule: 'A userAccountId that is not the principal is -32602',
    async run({ client, item }) {
      const { key } = item();
      const { params } = client.assign(key, { as: 'bob' });
      const answer = await client.rpc('SendMessage', params, { as: 'alice' });
      must(answer.error?.code === -32602, `${answer.error?.code ?? 'taken'}`);
      mustWork(await client.rpc('SendMessage', params, { as: 'bob' }), 'as the principal');
      return '-32602';
    },
  },
  {
    id: 'task.tenant',
    rule: 'A filled params.tenant is refused',
    async run({ client }) {
      const { params } = client.chat('Hello');
      const answer = await client.rpc('SendMessage', { ...params, tenant: 'somebody-else' });
      must(answer.error !== undefined && answer.task === undefined, 'it was taken');
      mustBeTaken(await client.rpc('SendMessage', params), 'with an empty tenant');
      return String(answer.error.code);
    },
  },
  {
    id: 'task.cancel',
    rule: 'CancelTask stops a running task for good',
    async run(bench) {
      const id = await startSlow(bench, 3_000);
      const canceled = await bench.client.cancel(id);
      mustBeClean(canceled.faults, 'CancelTask');
      must(canceled.task?.status.state === 'TASK_STATE_CANCELED', brief(canceled.text));
      const later = await bench.client.get(id);
      must(later.task?.status.state === 'TASK_STATE_CANCELED', `later: ${later.task?.status.state}`);
      return 'CANCELED, and still so';
    },
  },
  {
    id: 'task.cancel-errors',
    rule: 'CancelTask: -32002 for a finished task, -32001 for an unknown one',
    async run({ client, item }) {
      const done = await client.assign(item().key).run();
      const { id } = mustWork(done, 'assignment');
      const finished = await client.cancel(id);
      must(finished.error?.code === -32002, `finished: ${finished.error?.code ?? brief(finished.text)}`);
      const unknown = await client.cancel(randomUUID());
      must(unknown.error?.code === -32001, `unknown: ${unknown.error?.code ?? brief(unknown.text)}`);
      return '-32002, -32001';
    },
  },
  {
    id: 'task.sync-limit',
    rule: 'SendMessage is answered within 55 s, work that takes longer goes on',
    slow: 'unscaled',
    async run({ client, slowItem, atlassian }) {
      const limitMs = atlassian.timeScale.deadline(JIRA_LIMITS.sendMessageMs);
      const invocation = client.assign(slowItem(limitMs * 1.3).key);
      const sent = await invocation.sync();
      must(!sent.timedOut, `no answer within ${Math.round(limitMs)} ms`);
      mustBeClean(sent.faults, 'SendMessage');
      const { id, status } = mustWork(sent, 'SendMessage');
      if (!isPolled(status.state))
        skip(`${status.state} after ${Math.round(sent.elapsedMs)} ms: the agent did not wait`);
      const done = await client.poll(id);
      must(
        done.task?.status.state === 'TASK_STATE_COMPLETED',
        `in the end: ${done.task?.status.state ?? done.outcome}`,
      );
      return `${status.state} after ${Math.round(sent.elapsedMs)} ms, later COMPLETED`;
    },
  },
];
