import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { artifactText, statusText } from '../../simulator/client/a2a.ts';
import { freeze } from '../support/freeze.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { chunksOf } from './agents/texts.ts';
import { type Caller, createCaller } from './callers.ts';
import { agentSource, startWorld, type World } from './world.ts';

/** How long a turn whose process is gone is waited for. */
const SETTINGS = { LEASE_MS: '600', OPS_TOKEN: 'ops' };
/** Of this, 3 s are kept to write down what was interrupted and 1 s to close: turns are stopped at once. */
const NO_DRAIN = { DRAIN_MS: '4000' };
const REVIEW = { AGENT: agentSource('review') };

let world: World;
before(async () => {
  world = await startWorld({ agent: 'rerun', started: false, settings: SETTINGS });
});
after(() => world.close());

let databases = 0;
/** Settings of processes that share a database of their own. */
function together(more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  databases += 1;
  return { DATABASE_URL: `sqlite:./restart-${databases}.db`, ...more };
}

async function aliceAt(service: ServiceProcess): Promise<Caller> {
  return createCaller(await world.a2a('alice', { service }), '/a2a');
}

test('SIGTERM in the middle of an artifact: no half frame, exit 0, and the stream goes on elsewhere behind its last event', async () => {
  const settings = together(NO_DRAIN);
  const first = await world.start(settings);
  const lines = ['slowly log 25 20 40', 'complete Done.'];
  // Once: a second SIGTERM ends a process at once.
  let told = false;
  const streaming = (await aliceAt(first)).stream(lines, {
    onFrame: (_, task) => {
      if (told || !artifactText(task).includes('[6]')) return;
      told = true;
      first.signal('SIGTERM');
    },
  });
  const stream = await streaming;
  assert.deepEqual([stream.faults, stream.end], [[], 'agent'], 'ended between two events');
  assert.equal(stream.task?.status.state, 'TASK_STATE_WORKING');
  assert.equal(await first.exited(), 0);

  const second = await world.start(settings);
  const taskId = String(stream.task?.id);
  const last = Number(stream.frames.at(-1)?.id);
  const alice = await aliceAt(second);
  const [resumed, whole] = await Promise.all([
    alice.subscribe(taskId, { headers: { 'last-event-id': String(last) } }),
    alice.subscribe(taskId),
  ]);
  assert.deepEqual([whole.faults, whole.task?.status.state], [[], 'TASK_STATE_COMPLETED']);
  assert.equal(artifactText(whole.task), chunksOf(25, 20), 'the lost attempt left nothing behind');
  assert.deepEqual(
    resumed.frames.map(({ id }) => Number(id)),
    resumed.frames.map((_, at) => last + 1 + at),
  );
  assert.equal(resumed.frames.at(-1)?.id, whole.frames.at(-1)?.id);
  second.signal('SIGTERM');
  assert.equal(await second.exited(), 0);
});

test('SIGTERM with time to drain: the turn ends before the process does, and its stream sees the end', async () => {
  const service = await world.start(together({ ...REVIEW, DRAIN_MS: '15000' }));
  const place = world.outside.place({ closed: true });
  const alice = await aliceAt(service);
  const lines = [`call ${place.name}`, 'complete Done.'];
  // That of alice waits for the agent's first update while the others are told to stop.
  const streaming = [world.jira(service).chat(lines.join('\n')).stream(), alice.stream(lines)];
  await place.reached(2);
  service.signal('SIGTERM');
  await service.logged('service.stopping');
  place.open();
  for (const { faults, end, task } of await Promise.all(streaming)) {
    assert.deepEqual([faults, end, task?.status.state], [[], 'agent', 'TASK_STATE_COMPLETED']);
  }
  assert.equal(await service.exited(), 0);
});

test('SIGTERM without time: a turn that must not run twice is FAILED with the reason, and stays so', async () => {
  const settings = together({ ...REVIEW, ...NO_DRAIN });
  const first = await world.start(settings);
  const place = world.outside.place({ closed: true });
  const taskId = await (await aliceAt(first)).start([`call ${place.name}`, 'complete Done.']);
  await place.reached();
  first.signal('SIGTERM');
  assert.equal(await first.exited(), 0);
  const second = await world.start(settings);
  const { task } = await (await aliceAt(second)).client.get(taskId);
  assert.equal(task?.status.state, 'TASK_STATE_FAILED');
  assert.match(statusText(task), /interrupted by a restart/);
  assert.equal(place.calls.length, 1);
});

test('a restart: every accepted task is found by its owner and goes on to its end', async () => {
  const settings = together({ ...NO_DRAIN, AGENT_CONCURRENCY: '3' });
  const first = await world.start(settings);
  const place = world.outside.place({ closed: true });
  const alice = await aliceAt(first);
  const lines = [`call ${place.name}`, 'complete Done.'];
  const asked = String((await alice.send(['ask Which one?'])).task?.id);
  const waiting = await Promise.all(Array.from({ length: 6 }, () => alice.start(lines)));
  await place.reached(3);
  first.signal('SIGTERM');
  assert.equal(await first.exited(), 0);
  const second = await world.start(settings);
  const again = await aliceAt(second);
  for (const taskId of [...waiting, asked]) assert.equal((await again.client.get(taskId)).task?.id, taskId);
  const [one = ''] = waiting;
  const stream = await again.subscribe(one, { onFrame: () => place.open() });
  assert.deepEqual([stream.faults, stream.task?.status.state], [[], 'TASK_STATE_COMPLETED']);
  for (const taskId of waiting) {
    assert.equal((await again.ended(taskId)).status.state, 'TASK_STATE_COMPLETED');
  }
});

test('kill -9 after a side effect, before its commit: FAILED for review, told to the operator, and not repeated by a retry', async () => {
  const settings = together(REVIEW);
  const first = await world.start(settings);
  const place = world.outside.place({ closed: true });
  const messageId = 'one-side-effect';
  const lines = [`step pay ${place.name}`, 'complete Paid.'];
  const taskId = await (await aliceAt(first)).start(lines, { messageId });
  await place.reached();
  first.signal('SIGKILL');
  assert.equal(await first.exited(), 'SIGKILL');
  place.open();
  const second = await world.start(settings);
  const alice = await aliceAt(second);
  const task = await alice.ended(taskId);
  assert.equal(task.status.state, 'TASK_STATE_FAILED');
  assert.match(statusText(task), /needs review/);
  const lost = await second.logged('turn.lost');
  assert.deepEqual([lost.taskId, lost.level], [taskId, 'warn']);
  assert.equal(await metricOf(second, 'a2a_turns_lost_total{recovery="review"}'), 1);
  const retry = await alice.send(lines, { messageId });
  assert.deepEqual(retry.task, (await alice.client.get(taskId)).task);
  assert.equal(place.calls.length, 1);
});

test('kill -9 in a turn that may run again: finished steps are not repeated, the open one comes with the same key', async () => {
  const settings = together();
  const first = await world.start(settings);
  const [booked, paid] = [world.outside.place(), world.outside.place({ closed: true })];
  const lines = ['artifact a plain 100', `step book ${booked.name}`, `step pay ${paid.name}`, 'complete Done.'];
  const taskId = await (await aliceAt(first)).start(lines);
  await paid.reached();
  first.signal('SIGKILL');
  await first.exited();
  const second = await world.start(settings);
  await paid.reached(2);
  paid.open();
  const task = await (await aliceAt(second)).ended(taskId);
  assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
  assert.equal(task.artifacts?.length, 1);
  assert.equal(booked.calls.length, 1);
  const keys = paid.calls.map(({ idempotencyKey }) => idempotencyKey);
  assert.deepEqual([keys.length, new Set(keys).size], [2, 1]);
  assert.notEqual(keys[0], booked.calls[0]?.idempotencyKey);
});

test('a process that slept through its lease: another one has the task, and what the sleeper writes is refused', async () => {
  const settings = together();
  const sleeper = await world.start(settings);
  const [before, after] = [world.outside.place({ closed: true }), world.outside.place({ closed: true })];
  const lines = [`deaf ${before.name}`, 'sign', `call ${after.name}`, 'complete Done.'];
  const taskId = await (await aliceAt(sleeper)).start(lines);
  await before.reached();
  await freeze(sleeper, join(world.directory, `restart-${databases}.db`));
  const other = await world.start(settings);
  await before.reached(2);
  before.open();
  assert.equal((await after.reached()).worker, other.pid);
  sleeper.signal('SIGCONT');
  await until('the sleeper has let its turn go', async () => (await metricOf(sleeper, 'a2a_turns_running')) === 0);
  const [alice, again] = [await aliceAt(other), await aliceAt(sleeper)];
  for (const caller of [alice, again]) {
    const { task } = await caller.client.get(taskId);
    assert.deepEqual([task?.status.state, statusText(task)], ['TASK_STATE_WORKING', `signed by ${other.pid}`]);
  }
  after.open();
  assert.equal((await again.ended(taskId)).status.state, 'TASK_STATE_COMPLETED');
  assert.equal(after.calls.length, 1, 'the sleeper came no further');
});

async function metricOf({ origin }: ServiceProcess, name: string): Promise<number | undefined> {
  const answer = await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${SETTINGS.OPS_TOKEN}` } });
  const line = (await answer.text()).split('\n').find((text) => text.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}
