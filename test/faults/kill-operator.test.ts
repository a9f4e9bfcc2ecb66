import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Task } from '../../simulator/client/a2a.ts';
import { script } from '../e2e/world.ts';
import { freeze } from '../support/freeze.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { OPERATOR } from './matrix.ts';
import { startPlainClients } from './persistent-client.ts';
import { createStage, type Stage } from './stage.ts';

/* The command line dies in the middle of an act. The service beside it lives and works with whatever that has left. */

let clients: Awaited<ReturnType<typeof startPlainClients>>;
before(async () => {
  clients = await startPlainClients();
});
after(() => clients.close());

interface Scene {
  readonly stage: Stage;
  readonly service: ServiceProcess;
  readonly point: string;
}

type Point = keyof typeof OPERATOR;
const TENANT = 'anonymous';
const HANGS = ['say Started.', 'hang', 'complete Never.'];

async function send(service: ServiceProcess, lines: readonly string[], returnImmediately = false): Promise<Task> {
  const { task, text } = await clients.at(service).rpc('SendMessage', script(lines, { returnImmediately }));
  assert.ok(task, text);
  return task;
}

async function stateOf(service: ServiceProcess, { id }: Task): Promise<string | undefined> {
  return (await clients.at(service).get(id)).task?.status.state.replace('TASK_STATE_', '');
}

/** The command line dies at the point of the scene. */
async function die({ stage, point }: Scene, ...args: readonly string[]): Promise<void> {
  await stage.died(stage.operateToDie(point, ...args));
}

async function done(stage: Stage, ...args: readonly string[]): Promise<string> {
  const { code, out, err } = await stage.operate(...args);
  assert.equal(code, 0, err);
  return out;
}

function acts(stage: Stage): readonly string[] {
  return stage.query<{ act: string }>('select act from audit order by pk').map(({ act }) => act);
}

/** Every act is said once in the service's log, and nothing that did not happen. */
async function expectSaid({ stage, service }: Scene): Promise<void> {
  const said = () => service.log().flatMap(({ event, act }) => (event === 'operator.acted' ? [String(act)] : []));
  await until('every act is said', () => said().length >= acts(stage).length);
  assert.deepEqual(said(), acts(stage));
}

/** A task whose agent fails at once, and has nothing it could do twice. */
async function failed(service: ServiceProcess): Promise<Task> {
  const task = await send(service, ['no-such-command']);
  assert.equal(task.status.state, 'TASK_STATE_FAILED');
  return task;
}

async function retried({ stage, service }: Scene, old: Task): Promise<void> {
  const tasks = await until(
    'the new task has ended',
    () => stage.states().length === 2 && stage.states()[1] === 'FAILED',
  );
  assert.ok(tasks);
  assert.equal(stage.counted().runs, 2, 'once more');
  const again = await stage.operate('executions', 'retry', old.id);
  assert.equal(again.code, 1);
  assert.match(again.err, /retried already/);
  assert.deepEqual((await clients.at(service).get(old.id)).task, old, 'the failed one stays');
  assert.deepEqual(acts(stage), ['execution.retry']);
}

async function running(service: ServiceProcess, stage: Stage): Promise<Task> {
  const task = await send(service, HANGS, true);
  await until('its agent runs', () => stage.counted(task.id).runs === 1);
  return task;
}

async function erased({ stage, service }: Scene, tasks: readonly Task[]): Promise<void> {
  await until('all is erased', () => stage.states().length === 0);
  for (const { id } of tasks) assert.equal((await clients.at(service).get(id)).error?.code, -32001);
  assert.deepEqual(acts(stage), ['tenant.erase']);
  for (const table of ['owner', 'context', 'message', 'event', 'execution', 'request', 'turn_attempt']) {
    assert.deepEqual(stage.query(`select * from ${table}`), [], table);
  }
}

const SCENARIOS: Readonly<Record<Point, (scene: Scene) => Promise<void>>> = {
  async 'before the commit of an operator’s retry'(scene) {
    const old = await failed(scene.service);
    await die(scene, 'executions', 'retry', old.id);
    assert.deepEqual([scene.stage.states(), acts(scene.stage)], [['FAILED'], []]);
    await done(scene.stage, 'executions', 'retry', old.id);
    await retried(scene, old);
  },
  async 'after the commit of an operator’s retry'(scene) {
    const old = await failed(scene.service);
    await die(scene, 'executions', 'retry', old.id);
    await retried(scene, old);
  },
  async 'before the commit of an operator’s cancellation'(scene) {
    const { stage, service } = scene;
    const task = await running(service, stage);
    await die(scene, 'tasks', 'cancel', task.id);
    assert.deepEqual([await stateOf(service, task), acts(stage)], ['WORKING', []]);
    assert.equal(await done(stage, 'tasks', 'cancel', task.id), 'canceled\n');
    assert.deepEqual([await stateOf(service, task), acts(stage)], ['CANCELED', ['task.cancel']]);
    await service.logged('turn.stopped');
  },
  async 'after the commit of an operator’s cancellation'(scene) {
    const { stage, service } = scene;
    const task = await running(service, stage);
    await die(scene, 'tasks', 'cancel', task.id);
    assert.deepEqual([await stateOf(service, task), acts(stage)], ['CANCELED', ['task.cancel']]);
    await service.logged('turn.stopped');
    assert.equal(await done(stage, 'tasks', 'cancel', task.id), 'it was canceled before\n');
  },
  async 'before the commit of an operator’s pause'(scene) {
    const { stage, service } = scene;
    await send(service, ['complete Known.']);
    await die(scene, 'tenants', 'pause', TENANT);
    assert.deepEqual(acts(stage), []);
    assert.equal((await send(service, ['complete As ever.'])).status.state, 'TASK_STATE_COMPLETED');
    assert.equal(await done(stage, 'tenants', 'pause', TENANT), 'paused\n');
  },
  async 'after the commit of an operator’s pause'(scene) {
    const { stage, service } = scene;
    await send(service, ['complete Known.']);
    await die(scene, 'tenants', 'pause', TENANT);
    assert.deepEqual(acts(stage), ['tenant.pause']);
    const held = await send(service, ['complete Later.'], true);
    assert.equal(await done(stage, 'tenants', 'pause', TENANT), 'it is paused already\n');
    assert.deepEqual([await stateOf(service, held), stage.counted(held.id).runs], ['SUBMITTED', 0]);
    await stage.expectClean();
    await done(stage, 'tenants', 'resume', TENANT);
    await until('it has run', async () => (await stateOf(service, held)) === 'COMPLETED');
  },
  async 'before the commit of an operator’s erasure'(scene) {
    const { stage, service } = scene;
    const tasks = [await send(service, ['complete Done.']), await running(service, stage)];
    await die(scene, 'tenants', 'erase', TENANT);
    assert.deepEqual([stage.states(), acts(stage)], [['COMPLETED', 'WORKING'], []]);
    await done(stage, 'tenants', 'erase', TENANT);
    await erased(scene, tasks);
  },
  async 'after the commit of an operator’s erasure'(scene) {
    const { stage, service } = scene;
    const tasks = [await send(service, ['complete Done.']), await running(service, stage)];
    await die(scene, 'tenants', 'erase', TENANT);
    await erased(scene, tasks);
  },
  async 'before the commit of a batch of an operator’s erasure'(scene) {
    const { stage, service } = scene;
    const tasks = [await send(service, ['complete Done.']), await running(service, stage)];
    // A service would be faster than the command line now and then.
    await freeze(service, stage.path);
    await die(scene, 'tenants', 'erase', TENANT);
    assert.deepEqual([stage.states(), acts(stage)], [['COMPLETED', 'WORKING'], ['tenant.erase']]);
    service.signal('SIGCONT');
    await erased(scene, tasks);
  },
};

describe('an operator’s command line that is killed', { concurrency: 3 }, () => {
  for (const [point, scenario] of Object.entries(SCENARIOS)) {
    test(`killed ${point}: ${OPERATOR[point as Point].afterwards}`, async (t) => {
      const stage = createStage(t, 'review');
      const scene = { stage, service: await stage.start(), point };
      await scenario(scene);
      await expectSaid(scene);
      await stage.expectClean();
    });
  }
});
