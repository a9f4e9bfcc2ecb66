import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { artifactText, statusText } from '../../simulator/client/a2a.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { chunksOf } from './agents/texts.ts';
import { type Caller, createCaller } from './callers.ts';
import { agentSource, script, startWorld, type World } from './world.ts';

let world: World;
let pair: readonly ServiceProcess[];
before(async () => {
  world = await startWorld({ agent: 'rerun', started: false, settings: { LEASE_MS: '600' } });
  pair = await startPair({});
});
after(() => world.close());

async function startPair(
  settings: Readonly<Record<string, string>>,
): Promise<readonly [ServiceProcess, ServiceProcess]> {
  const database = { DATABASE_URL: `sqlite:./${randomUUID()}.db`, ...settings };
  return [await world.start(database), await world.start(database)];
}

/** Alice of one edge at each of the two processes. */
async function callersAt(edge: Caller['edge'], services: readonly ServiceProcess[]): Promise<readonly Caller[]> {
  return Promise.all(
    services.map(async (service) =>
      createCaller(edge === '/a2a' ? await world.a2a('alice', { service }) : world.jira(service), edge),
    ),
  );
}

/** The caller at the process that runs the task, and the one at the other. */
function split(callers: readonly Caller[], services: readonly ServiceProcess[], worker: number) {
  const at = services.findIndex(({ pid }) => pid === worker);
  const [runner, other] = [callers[at], callers[1 - at]];
  assert.ok(runner && other, `process ${worker} is one of the two`);
  return { runner, other, running: services[at] as ServiceProcess };
}

const EDGES = ['/rovo/a2a', '/a2a'] as const;

for (const edge of EDGES) {
  test(`${edge}, two processes: 20 parallel identical sends are one task and one run`, async () => {
    const callers = await callersAt(edge, pair);
    for (let round = 0; round < 3; round += 1) {
      const place = world.outside.place();
      const params = script([`call ${place.name}`, 'complete Done.']);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => callers[index % 2]?.client.rpc('SendMessage', params)),
      );
      assert.deepEqual(new Set(answers.map((answer) => answer?.faults.join())), new Set(['']));
      assert.equal(new Set(answers.map((answer) => answer?.task?.id)).size, 1);
      assert.ok(answers.every((answer) => answer?.task?.status.state === 'TASK_STATE_COMPLETED'));
      assert.equal(place.calls.length, 1);
    }
  });

  test(`${edge}, two processes: a task is canceled at the one that does not run it, and the other stops`, async () => {
    const callers = await callersAt(edge, pair);
    const place = world.outside.place({ closed: true });
    const taskId = await callers[0]?.start([`call ${place.name}`, 'artifact late plain 100', 'complete Too late.']);
    const { worker } = await place.reached();
    const { runner, other } = split(callers, pair, worker);
    const streaming = runner.subscribe(String(taskId));
    const canceled = await other.client.cancel(String(taskId));
    assert.equal(canceled.task?.status.state, 'TASK_STATE_CANCELED');
    const stream = await streaming;
    assert.ok(stream.streamed ? stream.task?.status.state === 'TASK_STATE_CANCELED' : stream.error?.code === -32004);
    await place.left();
    place.open();
    assert.deepEqual((await runner.client.get(String(taskId))).task, canceled.task);
  });

  test(`${edge}, two processes: a subscription at the one that does not run the task has every event to the end`, async () => {
    const callers = await callersAt(edge, pair);
    const place = world.outside.place({ closed: true });
    const streaming = callers[0]?.stream([
      'say Reading.',
      `call ${place.name}`,
      'slowly log 10 20 50',
      'complete Done.',
    ]);
    const { worker, taskId } = await place.reached();
    const { runner, other } = split(callers, pair, worker);
    const subscriptions = [runner, other].map((caller) => caller.subscribe(taskId, { onFrame: () => place.open() }));
    for (const stream of [await streaming, ...(await Promise.all(subscriptions))]) {
      assert.deepEqual([stream?.faults, stream?.end], [[], 'agent']);
      assert.equal(stream?.task?.status.state, 'TASK_STATE_COMPLETED');
      assert.equal(artifactText(stream?.task), chunksOf(10, 20));
    }
  });
}

test('two processes: the one that runs the task is killed; an agent that may run again finishes at the other, on one stream', async () => {
  const services = await startPair({});
  const callers = await callersAt('/rovo/a2a', services);
  const place = world.outside.place({ closed: true });
  const taskId = await callers[0]?.start([
    'chunks log 20 20',
    `call ${place.name}`,
    'chunks more 20 20',
    'complete Done.',
  ]);
  const { worker } = await place.reached();
  const { other, running } = split(callers, services, worker);
  const streaming = other.subscribe(String(taskId));
  running.signal('SIGKILL');
  await running.exited();
  const again = await place.reached(2);
  assert.notEqual(again.worker, worker);
  place.open();
  const stream = await streaming;
  assert.deepEqual([stream.faults, stream.end, stream.task?.status.state], [[], 'agent', 'TASK_STATE_COMPLETED']);
  const { task } = await other.client.get(String(taskId));
  assert.equal(artifactText(task), chunksOf(20, 20) + chunksOf(20, 20));
  assert.equal(artifactText(stream.task), artifactText(task));
});

test('two processes: the one that runs the task is killed; an agent that may not run again is FAILED for review, once', async () => {
  const services = await startPair({ AGENT: agentSource('review') });
  const callers = await callersAt('/a2a', services);
  const place = world.outside.place({ closed: true });
  const taskId = await callers[0]?.start([
    'artifact kept plain 100',
    'say Written.',
    `call ${place.name}`,
    'complete Done.',
  ]);
  const { worker } = await place.reached();
  const { other, running } = split(callers, services, worker);
  const streaming = other.subscribe(String(taskId));
  running.signal('SIGKILL');
  const stream = await streaming;
  assert.deepEqual([stream.faults, stream.end], [[], 'agent']);
  assert.equal(stream.task?.status.state, 'TASK_STATE_FAILED');
  assert.match(statusText(stream.task), /needs review/);
  assert.equal(stream.task?.artifacts?.length, 1, 'what was written stays');
  assert.equal(place.calls.length, 1);
});

test('two processes: one that only answers callers begins nothing, and the one that only works takes it up', async () => {
  const shared = {
    DATABASE_URL: `sqlite:./${randomUUID()}.db`,
    CREDENTIALS_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  const api = await world.start({ ...shared, ROLE: 'api' });
  const [caller] = await callersAt('/a2a', [api]);
  const place = world.outside.place();
  const taskId = String(await caller?.start([`call ${place.name}`, 'complete Done.']));
  const stored = await caller?.client.get(taskId);
  assert.equal(stored?.task?.status.state, 'TASK_STATE_SUBMITTED');
  const working = await world.start({ ...shared, ROLE: 'worker' });
  assert.equal((await place.reached()).worker, working.pid);
  const settled = await until('it has run', async () => {
    const { task } = (await caller?.client.get(taskId)) ?? {};
    return task?.status.state === 'TASK_STATE_COMPLETED' && task;
  });
  assert.equal(statusText(settled), 'Done.');
});
