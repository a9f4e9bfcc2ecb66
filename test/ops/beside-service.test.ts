import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { statusText } from '../../simulator/client/a2a.ts';
import { type Caller, createCaller } from '../e2e/callers.ts';
import { startWorld, type World } from '../e2e/world.ts';
import { until } from '../support/until.ts';
import { type Ran, runOps } from './run-ops.ts';

/*
 * The command line and a service, two processes on one file. The agent calls places that the test opens, so it is known
 * when it runs; a service that claims something for one tenant would have claimed what is older of another.
 */

let world: World;
let alice: Caller;
let bob: Caller;
before(async () => {
  world = await startWorld({ agent: 'review', settings: { LEASE_MS: '900' } });
  alice = createCaller(await world.a2a('alice', { tenant: 't1' }), '/a2a');
  bob = createCaller(await world.a2a('bob', { tenant: 't2' }), '/a2a');
});
after(() => world.close());

function ops(...args: readonly string[]): Promise<Ran> {
  return runOps({ directory: world.directory, env: { DATABASE_URL: 'sqlite:./connector.db' } }, ...args);
}

async function done(...args: readonly string[]): Promise<string> {
  const { code, out, err } = await ops(...args);
  assert.equal(code, 0, err);
  return out;
}

/** What it prints with `--json`. */
async function json<T>(...args: readonly string[]): Promise<T> {
  return JSON.parse(await done(...args, '--json')) as T;
}

async function tenantOf(taskId: string): Promise<string> {
  const { task } = await json<{ task: { tenant: string } }>('tasks', 'show', taskId);
  return task.tenant;
}

async function stateOf(caller: Caller, taskId: string): Promise<string | undefined> {
  return (await caller.client.get(taskId)).task?.status.state;
}

test('ops tasks cancel: stops the agent in the other process; the caller reads who did it, the audit why [13.4-audit]', async () => {
  const place = world.outside.place({ closed: true });
  const taskId = await alice.start([`call ${place.name}`, 'complete Too late.']);
  await place.reached();
  const canceled = await done('tasks', 'cancel', taskId, '--as', 'carol', '--reason', 'asked by phone');
  assert.equal(canceled, 'canceled\n');
  await place.left();
  const { task } = await alice.client.get(taskId);
  assert.equal(task?.status.state, 'TASK_STATE_CANCELED');
  assert.match(statusText(task), /operator/);
  assert.doesNotMatch(statusText(task), /phone/);
  assert.equal(await done('tasks', 'cancel', taskId), 'it was canceled before\n');
  const { act, taskId: of, from, to, ...others } = await world.service().logged('operator.acted');
  assert.deepEqual([act, of, from, to], ['task.cancel', taskId, 'TASK_STATE_WORKING', 'TASK_STATE_CANCELED']);
  assert.doesNotMatch(JSON.stringify(others), /carol|phone/, 'who and why are for the audit');
  const [entry, ...older] = await json<readonly Record<string, unknown>[]>('audit', 'list');
  assert.deepEqual(
    [entry?.act, entry?.taskId, entry?.actor, entry?.reason],
    ['task.cancel', taskId, 'carol', 'asked by phone'],
  );
  assert.equal(typeof entry?.account, 'string');
  assert.ok(Math.abs(Date.parse(String(entry?.at)) - Date.now()) < 60_000);
  assert.ok(!older.some((other) => other.taskId === taskId), 'the second one changed nothing');
});

test('ops tasks cancel: a task that has ended is refused and says how', async () => {
  const { task } = await alice.send(['complete Done.']);
  const { code, err } = await ops('tasks', 'cancel', String(task?.id));
  assert.equal(code, 1);
  assert.match(err, /^the task ended at .* as TASK_STATE_COMPLETED\n$/);
});

test('ops tenants pause: its messages are accepted and wait while another tenant runs; resume runs them', async () => {
  const known = await alice.send(['complete Hello.']);
  const tenant = await tenantOf(String(known.task?.id));
  assert.equal(await done('tenants', 'pause', tenant, '--reason', 'it floods'), 'paused\n');
  const place = world.outside.place();
  const held = await alice.start([`call ${place.name}`, 'complete At last.']);
  const { task } = await bob.send(['complete Done.']);
  assert.equal(task?.status.state, 'TASK_STATE_COMPLETED');
  assert.equal(await stateOf(alice, held), 'TASK_STATE_SUBMITTED');
  assert.equal(place.calls.length, 0);
  assert.match(await done('executions', 'list', '--outcome', 'open'), new RegExp(`${held} .* held back`));
  assert.match(await done('tenants', 'list'), new RegExp(`${tenant} +paused since`));
  assert.equal(await done('tenants', 'pause', tenant), 'it is paused already\n');
  assert.equal(await done('tenants', 'resume', tenant), 'resumed\n');
  assert.equal((await alice.ended(held)).status.state, 'TASK_STATE_COMPLETED');
  assert.equal(await done('tenants', 'resume', tenant), 'it is not paused\n');
});

test('ops runner pause: what runs ends, nobody takes up anything; resume goes on', async () => {
  const place = world.outside.place({ closed: true });
  const running = await alice.start([`call ${place.name}`, 'complete Done.']);
  await place.reached();
  assert.match(await done('runner', 'pause'), /^paused/);
  const later = world.outside.place();
  const waiting = await bob.start([`call ${later.name}`, 'complete Later.']);
  place.open();
  // Its end makes the service look for the next turn.
  assert.equal((await alice.ended(running)).status.state, 'TASK_STATE_COMPLETED');
  assert.match(await done('runner', 'show'), /^runner +paused since .*\nwaiting +1 turn,/);
  assert.deepEqual([later.calls.length, await stateOf(bob, waiting)], [0, 'TASK_STATE_SUBMITTED']);
  assert.match(await done('runner', 'resume'), /^resumed/);
  assert.equal((await bob.ended(waiting)).status.state, 'TASK_STATE_COMPLETED');
});

test('ops executions: a turn whose process was killed is listed, retried as a new task that runs, and closed', async () => {
  const doomed = await world.start({ DATABASE_URL: 'sqlite:./connector.db' });
  const place = world.outside.place({ closed: true });
  // Either process may take it up: the one that has it dies, the other one goes on.
  const taskId = await alice.start([`step post ${place.name}`, 'complete Done.']);
  const { worker } = await place.reached();
  const killed = worker === doomed.pid ? doomed : world.service();
  const left = killed === doomed ? world.service() : doomed;
  killed.signal('SIGKILL');
  await killed.exited();
  const caller = createCaller(await world.a2a('alice', { tenant: 't1', service: left }), '/a2a');
  await until('the execution is dead', async () =>
    (await json<readonly { taskId: string }[]>('executions', 'list')).some((entry) => entry.taskId === taskId),
  );
  place.open();
  const failed = (await caller.client.get(taskId)).task;
  assert.equal(failed?.status.state, 'TASK_STATE_FAILED');

  const retried = await json<{ taskId: string }>('executions', 'retry', taskId, '--reason', 'back again');
  const task = await caller.ended(retried.taskId);
  assert.deepEqual(
    [task.status.state, task.contextId, task.metadata],
    ['TASK_STATE_COMPLETED', failed?.contextId, { retryOf: taskId }],
  );
  assert.deepEqual((await caller.client.get(taskId)).task, failed, 'the failed one stays');
  assert.equal(place.calls.length, 2);
  assert.notEqual(place.calls[0]?.idempotencyKey, place.calls[1]?.idempotencyKey, 'it is other work');

  const second = await ops('executions', 'retry', taskId);
  assert.deepEqual([second.code, second.out], [1, '']);
  assert.match(second.err, new RegExp(`retried already, as task ${retried.taskId}`));
  const again = await json<{ taskId: string }>('executions', 'retry', taskId, '1', '--again');
  assert.equal((await caller.ended(again.taskId)).status.state, 'TASK_STATE_COMPLETED');
  assert.equal(await done('executions', 'close', taskId), 'turn 1 is closed\n');
  assert.equal(await done('executions', 'list'), 'no dead executions\n');

  const story = await done('tasks', 'show', taskId);
  const told = [
    'message 1 ',
    'SUBMITTED',
    'attempt 1 begins at',
    'step post begins',
    'attempt 2 begins at',
    'FAILED, says',
  ];
  const places = [...told, 'closed: lease lost', 'execution.retry', 'execution.close'].map((what) =>
    story.lastIndexOf(what),
  );
  assert.ok(!places.includes(-1), story);
  assert.deepEqual(
    places,
    [...places].sort((a, b) => a - b),
    story,
  );
});

test('ops: what operators leave behind is a database without findings', async () => {
  const verifier = fileURLToPath(new URL('../../src/verify.js', import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [verifier, join(world.directory, 'connector.db')], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
});
