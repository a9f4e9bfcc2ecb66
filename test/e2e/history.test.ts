import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Task } from '../../simulator/client/a2a.ts';
import { type Caller, createCaller } from './callers.ts';
import { startWorld, type World } from './world.ts';

let world: World;
let alice: Caller;
let jira: Caller;
before(async () => {
  world = await startWorld({ agent: 'rerun' });
  alice = createCaller(await world.a2a('alice'), '/a2a');
  jira = createCaller(world.jira(), '/rovo/a2a');
});
after(() => world.close());

interface List {
  readonly tasks: readonly Task[];
  readonly totalSize: number;
  readonly pageSize: number;
  readonly nextPageToken: string;
}

async function list(caller: Caller, params: object): Promise<List> {
  const answer = await caller.client.rpc('ListTasks', params);
  assert.deepEqual(answer.faults, []);
  return answer.result as List;
}

test('historyLength: SendMessage and GetTask show the newest messages, the store keeps all [3.1.3-history, 3.2.4-none]', async () => {
  let task = (await alice.send(['ask One?'])).task;
  for (const question of ['Two?', 'Three?', 'Four?']) {
    task = (await alice.send([`ask ${question}`], { taskId: String(task?.id) })).task;
  }
  const taskId = String(task?.id);
  const last = await alice.send(['complete Done.'], { taskId, historyLength: 1 });
  assert.deepEqual(
    last.task?.history?.map(({ parts }) => parts[0]?.text),
    ['complete Done.'],
  );
  const all = (await alice.client.get(taskId)).task?.history ?? [];
  assert.ok(all.length >= 5);
  const some = await alice.client.rpc('GetTask', { id: taskId, historyLength: 2 });
  assert.deepEqual(some.task?.history, all.slice(-2));
  const none = await alice.client.rpc('GetTask', { id: taskId, historyLength: 0 });
  assert.equal('history' in (none.task ?? {}), false);
  for (const historyLength of [-1, 'abc', 1.5]) {
    assert.equal((await alice.client.rpc('GetTask', { id: taskId, historyLength })).error?.code, -32602);
  }
});

test('taskId: an unknown one answers -32001 and makes nothing [3.4.2-unknown]', async () => {
  for (const caller of [alice, jira]) {
    const { totalSize } = await list(caller, {});
    for (const taskId of ['nope', randomUUID()]) {
      assert.equal((await caller.send(['complete'], { taskId })).error?.code, -32001);
    }
    assert.equal((await list(caller, {})).totalSize, totalSize);
  }
});

test('taskId: with another contextId it answers -32602 and writes nothing; alone, the context is inferred [3.4.3-mismatch, 3.4.3-inferred]', async () => {
  const { task } = await alice.send(['ask Which one?']);
  const taskId = String(task?.id);
  const wrong = await alice.send(['complete Wrong.'], { taskId, contextId: 'other' });
  assert.equal(wrong.error?.code, -32602);
  assert.deepEqual((await alice.client.get(taskId)).task, task);
  const right = await alice.send(['complete Right.'], { taskId });
  assert.deepEqual([right.task?.contextId, right.task?.status.state], [task?.contextId, 'TASK_STATE_COMPLETED']);
});

test('contextId: one that we made is in the task, in the message and on the stream [3.4.1-generated]', async () => {
  for (const caller of [alice, jira]) {
    const made = new Set<string>();
    for (const line of ['complete Done.', 'ask Which one?', 'reply Hello.']) {
      const answer = await caller.send([line]);
      const [first] = (await caller.stream([line])).frames;
      for (const contextId of [
        (answer.task ?? answer.message)?.contextId,
        (first?.frame.task ?? first?.frame.message)?.contextId,
      ]) {
        assert.match(contextId ?? '', /^\S+$/, line);
        made.add(contextId ?? '');
      }
    }
    assert.equal(made.size, 6, 'each its own');
  }
});

test('a message to a finished task: -32004 on /a2a, and its id is not used up [3.1.1-terminal]', async () => {
  const { task } = await alice.send(['complete Done.']);
  const messageId = randomUUID();
  const late = await alice.send(['complete Late.'], { taskId: String(task?.id), messageId });
  assert.equal(late.error?.code, -32004);
  const anew = await alice.send(['complete Late.'], { messageId });
  assert.equal(anew.task?.status.state, 'TASK_STATE_COMPLETED');
  assert.notEqual(anew.task?.id, task?.id);
});

test('a retry in Jira: with the context of a finished task, known or not, it is a new task there; without it -32001', async () => {
  const { task } = await jira.send(['complete Done.']);
  const { id: taskId = '', contextId = '' } = task ?? {};
  for (const named of [taskId, randomUUID()]) {
    const retry = await jira.send(['complete Again.'], { taskId: named, contextId });
    assert.deepEqual([retry.task?.contextId, retry.task?.status.state], [contextId, 'TASK_STATE_COMPLETED']);
    assert.notEqual(retry.task?.id, taskId);
  }
  assert.equal((await jira.send(['complete'], { taskId })).error?.code, -32001);
});

test('ListTasks: without tasks all four fields are there, and artifacts are a key only when asked for [3.1.4-fields]', async () => {
  const nobody = createCaller(await world.a2a('nobody'), '/a2a');
  assert.deepEqual(await list(nobody, {}), { tasks: [], totalSize: 0, pageSize: 50, nextPageToken: '' });
  await nobody.send(['artifact a plain 10', 'complete Done.']);
  const [plain] = (await list(nobody, {})).tasks;
  assert.equal('artifacts' in (plain ?? {}), false);
  const [full] = (await list(nobody, { includeArtifacts: true })).tasks;
  assert.equal(full?.artifacts?.length, 1);
});

test('ListTasks: a task that moves while somebody pages loses nobody else, and the pages end [3.1.4-token]', async () => {
  const carol = createCaller(await world.a2a('carol'), '/a2a');
  const ids: string[] = [];
  for (let made = 0; made < 9; made += 1) ids.push(String((await carol.send(['ask Which one?'])).task?.id));
  const newestFirst = ids.toReversed();
  const first = await list(carol, { pageSize: 3 });
  assert.deepEqual(
    first.tasks.map(({ id }) => id),
    newestFirst.slice(0, 3),
  );
  const [moved = ''] = newestFirst.slice(5, 6);
  await carol.send(['complete Done.'], { taskId: moved });
  const seen: string[] = [];
  let pageToken = first.nextPageToken;
  while (pageToken !== '') {
    const page = await list(carol, { pageSize: 3, pageToken });
    seen.push(...page.tasks.map(({ id }) => id));
    pageToken = page.nextPageToken;
    assert.ok(seen.length <= 9, 'no endless loop');
  }
  assert.deepEqual(
    seen,
    newestFirst.slice(3).filter((id) => id !== moved),
  );
  const dave = createCaller(await world.a2a('dave'), '/a2a');
  const foreign = await dave.client.rpc('ListTasks', { pageSize: 3, pageToken: first.nextPageToken });
  assert.equal(foreign.error?.code, -32602, 'a page token is its caller’s');
});

test('a status with words names its task and its context, and no id is empty [4.1.4-agent-context]', async () => {
  for (const caller of [alice, jira]) {
    for (const line of ['complete Done.', 'ask Which one?', 'reject No.', 'throw something']) {
      const stream = await caller.stream([line]);
      const { task } = await caller.client.get(String(stream.task?.id));
      const message = task?.status.message ?? assert.fail(`${line}: no words`);
      assert.deepEqual([message.taskId, message.contextId], [task?.id, task?.contextId], line);
      assert.doesNotMatch(
        JSON.stringify([task, stream.frames.map(({ frame }) => frame)]),
        /"(taskId|contextId|messageId)":""/,
      );
    }
  }
});

test('timestamps: UTC with milliseconds, and never going back within a task [5.6.1-utc, 5.6.1-milliseconds]', async () => {
  const stream = await alice.stream(['say One.', 'say Two.', 'say Three.', 'complete Done.']);
  const times = stream.frames.flatMap(
    ({ frame }) => frame.task?.status.timestamp ?? frame.statusUpdate?.status.timestamp ?? [],
  );
  assert.ok(times.length >= 5);
  for (const time of times) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(times, times.toSorted());
});
