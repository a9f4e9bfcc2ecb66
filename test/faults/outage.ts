import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { StoreFault } from '../../core/errors.ts';
import { artifactText, statusText } from '../../simulator/client/a2a.ts';
import type { JiraClient } from '../../simulator/client/jira-client.ts';
import { chunksOf } from '../e2e/agents/texts.ts';
import { script } from '../e2e/world.ts';
import type { Trouble } from '../support/hold-lock.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { createPersistentClient, type PersistentClient } from './persistent-client.ts';
import type { Policy, Stage } from './stage.ts';

/*
 * A database that cannot be written for a while, as everybody outside sees it: what is asked meanwhile, what ran when it
 * began, and the operator. It ends without a restart.
 */

export interface Outage {
  readonly stage: Stage;
  readonly at: (service: ServiceProcess) => JiraClient;
  readonly policy: Policy;
  begin(service: ServiceProcess): Promise<Trouble>;
  readonly fault: StoreFault;
  readonly settings?: Readonly<Record<string, string>>;
}

/** What the running task must have come to. */
export interface Expected {
  readonly state: 'COMPLETED' | 'FAILED';
  readonly runs: number;
  readonly effects: number;
  /** Waited for before the fault is mended. */
  readonly endsAfter?: string;
}

const CHUNKS = 4;
const RUNNING = ['say Started.', 'watched', 'step pay', `chunks ${CHUNKS}`, 'complete Done.'];
/** Somebody who sends again and again while it lasts. */
const CALLS = 12;
export const OPS_TOKEN = 'operator';

export async function readiness({
  origin,
}: ServiceProcess): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(`${origin}/readyz`);
  return { status: response.status, body: await response.json() };
}

export async function metric({ origin }: ServiceProcess, sample: string): Promise<number> {
  const response = await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${OPS_TOKEN}` } });
  const lines = (await response.text()).split('\n');
  return Number(
    lines
      .find((line) => line.startsWith(`${sample} `))
      ?.split(' ')
      .at(-1) ?? Number.NaN,
  );
}

/** It is red for this reason, and the process lives. */
export async function expectRed(service: ServiceProcess, fault: StoreFault): Promise<void> {
  await until(`not ready: ${fault}`, async () => {
    const { status, body } = await readiness(service);
    const { reason } = body as { readonly reason?: string };
    return status === 503 && reason === `store ${fault}`;
  });
  assert.equal((await fetch(`${service.origin}/livez`)).status, 200);
  assert.equal(await metric(service, 'a2a_store_available'), 0);
  assert.ok((await metric(service, `a2a_store_failures_total{reason="${fault}"}`)) > 0);
}

export async function expectGreen(service: ServiceProcess): Promise<void> {
  await until('ready', async () => (await readiness(service)).status === 200);
}

/** Nothing was accepted, and the answer says that it may be tried again. */
export async function expectRefused(client: JiraClient, params: unknown): Promise<void> {
  const { status, error, text } = await client.rpc('SendMessage', params);
  assert.deepEqual([status, error?.code], [200, -32603], text);
  assert.match(text, /"STORE_UNAVAILABLE"/);
  assert.match(text, /google\.rpc\.RetryInfo/);
  assert.doesNotMatch(text, /sqlite|disk|database|locked|\.db/i, 'what is wrong is nothing for a caller');
}

/** Said once when it begins and once when it is over, with nothing around it that repeats. */
export async function expectQuietLog(service: ServiceProcess, fault: StoreFault): Promise<void> {
  const over = await service.logged('store.available');
  assert.equal(over.reason, fault);
  const begun = service.log().filter(({ event }) => event === 'store.unavailable');
  assert.deepEqual(
    begun.map(({ level, reason }) => [level, reason]),
    [['error', fault]],
  );
  const loud = service.log().filter(({ level }) => level === 'warn' || level === 'error');
  const about = loud.map(({ event }) => event);
  const expected = ['store.unavailable', 'store.available', 'readiness.failed', 'turn.abandoned', 'config.warning'];
  assert.deepEqual(
    about.filter((event) => !expected.includes(event)),
    [],
  );
  assert.ok(about.length < 10, about.join(', '));
}

export async function rideOut(outage: Outage, expected: Expected): Promise<void> {
  const { stage, at, policy } = outage;
  const service = await stage.start({ OPS_TOKEN, ...outage.settings });
  const runner = createPersistentClient({ at, lines: RUNNING });
  const streaming = runner.begin(service);
  await until('the agent runs', () => stage.counted().runs === 1 && stage.states()[0] === 'WORKING');

  const trouble = await outage.begin(service);
  const refused = script(['complete Late.'], { messageId: randomUUID() });
  const client = at(service);
  await Promise.all(Array.from({ length: CALLS }, () => expectRefused(client, refused)));
  await expectRed(service, outage.fault);
  stage.watched();
  if (expected.endsAfter) await service.logged(expected.endsAfter);
  assert.deepEqual(stage.counted(), { runs: 1, effects: [] }, 'no effect before it is known that it begins');
  assert.deepEqual(stage.states(), ['WORKING'], 'nothing was accepted');
  await trouble.mend();

  await expectGreen(service);
  const { task } = await client.rpc('SendMessage', refused);
  assert.equal(task?.status.state, 'TASK_STATE_COMPLETED', 'sent again it is one task');
  assert.equal(stage.counted(task?.id).runs, 1);
  assert.deepEqual((await client.rpc('SendMessage', refused)).task, task);
  await streaming;
  await expectEnd(runner, { ...outage, service, expected, policy });
  assert.equal(stage.states().length, 2);
  await expectQuietLog(service, outage.fault);
  assert.equal(await metric(service, 'a2a_store_available'), 1);
  service.signal('SIGTERM');
  assert.equal(await service.exited(), 0, service.output());
  await stage.expectClean({ stopped: true });
}

interface EndOptions extends Pick<Outage, 'stage' | 'at'> {
  readonly service: ServiceProcess;
  readonly expected: Expected;
  readonly policy: Policy;
}

/** The stream that was open all the time, and the task, say the same. */
async function expectEnd(client: PersistentClient, { stage, at, service, expected }: EndOptions): Promise<void> {
  const taskId = String(client.taskId);
  const { task } = await at(service).get(taskId);
  assert.equal(task?.status.state, `TASK_STATE_${expected.state}`);
  assert.equal(client.view.status?.state, task?.status.state, 'what the stream showed');
  const { runs, effects } = stage.counted(taskId);
  assert.deepEqual([runs, effects.length], [expected.runs, expected.effects], 'runs and effects');
  if (expected.state === 'COMPLETED') assert.equal(artifactText(task), chunksOf(CHUNKS, 20), 'nothing twice');
  else assert.match(statusText(task), /needs review/);
}
