import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as later } from 'node:timers/promises';
import { artifactText, isTerminal, type Task } from '../../simulator/client/a2a.ts';
import { chunksOf } from '../e2e/agents/texts.ts';
import { script } from '../e2e/world.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { startPlainClients } from './persistent-client.ts';
import { createStage, POLICIES, type Stage } from './stage.ts';

const CLIENTS = 60;
/** A rerun agent is given up after its fifth lost attempt. */
const KILLS = 4;
const CHUNKS = 3;
const POLL_MS = 50;
/** A client that waits for ever fails by itself. */
const TIMEOUT_MS = 120_000;
const SCRIPT = ['say Started.', 'step pay', `chunks ${CHUNKS}`, 'complete Done.'];

let clients: Awaited<ReturnType<typeof startPlainClients>>;
before(async () => {
  clients = await startPlainClients();
});
after(() => clients.close());

/** Sends until it is answered, then asks until the task has ended, whatever happens to the service meanwhile. */
async function insist(current: () => ServiceProcess): Promise<Task> {
  const params = script(SCRIPT, { messageId: randomUUID(), returnImmediately: true });
  let taskId: string | undefined;
  for (;;) {
    const client = clients.at(current());
    const answer = await (taskId === undefined ? client.rpc('SendMessage', params) : client.get(taskId)).catch(
      () => undefined,
    );
    if (answer) {
      assert.ok(answer.task, `an accepted task is there: ${answer.text}`);
      assert.equal(answer.task.id, taskId ?? answer.task.id, 'the same task after each restart');
      taskId = answer.task.id;
      if (isTerminal(answer.task.status.state)) return answer.task;
    }
    await later(POLL_MS);
  }
}

/** Kills it in the middle of its work: some turns later, wherever each of them is then. */
async function killSoon(stage: Stage, service: ServiceProcess): Promise<void> {
  const { runs } = stage.counted();
  const more = 3 + Math.floor(Math.random() * 15);
  await until('some turns are under way', () => {
    const states = stage.states();
    const over = states.length === CLIENTS && states.every((state) => state === 'COMPLETED' || state === 'FAILED');
    return over || stage.counted().runs >= runs + more;
  });
  service.signal('SIGKILL');
  assert.equal(await service.exited(), 'SIGKILL');
  await stage.expectClean({ stopped: true });
}

for (const policy of POLICIES) {
  test(`killed ${KILLS} times at any moment under ${CLIENTS} clients, ${policy} agent: every message is one task with one end`, {
    timeout: TIMEOUT_MS,
  }, async (t) => {
    const stage = createStage(t, policy);
    let service = await stage.start();
    const insisting = Promise.all(Array.from({ length: CLIENTS }, () => insist(() => service)));
    for (let kill = 0; kill < KILLS; kill += 1) {
      await killSoon(stage, service);
      service = await stage.start();
    }
    const tasks = await insisting;
    assert.equal(new Set(tasks.map(({ id }) => id)).size, CLIENTS);
    assert.equal(stage.states().length, CLIENTS, 'no message made two');
    for (const task of tasks) {
      const { runs, effects } = stage.counted(task.id);
      assert.ok(new Set(effects).size <= 1, 'one idempotency key');
      if (policy === 'review') assert.ok(runs <= 1, 'at most one run');
      if (policy === 'rerun') assert.equal(task.status.state, 'TASK_STATE_COMPLETED');
      if (task.status.state === 'TASK_STATE_COMPLETED') assert.equal(artifactText(task), chunksOf(CHUNKS, 20));
      else assert.equal(task.status.state, 'TASK_STATE_FAILED');
    }
    await stage.expectClean();
  });
}
