import { join } from 'node:path';
import type { TestContext } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { DomainError } from '../../core/errors.ts';
import { textOf } from '../../core/message.ts';
import { retryExecution } from '../../core/operations/operate.ts';
import type { Agent, Turn, Update } from '../../core/ports/agent.ts';
import type { Task } from '../../core/task.ts';
import { sha256, timeOrderedIds } from '../../src/system-clock.ts';
import { createClient, ROVO } from '../support/client.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { type Core, createCore } from '../support/service.ts';
import { tempDir } from '../support/temp-dir.ts';
import { advanceUntil, never, until } from '../support/until.ts';

/** By task, in the words of the message that started it. */
export type Stories = Readonly<Record<Story, string>>;
type Story =
  | 'artifacts'
  | 'asked'
  | 'canceled'
  | 'threw'
  | 'rejected'
  | 'replied'
  | 'stepped'
  | 'running'
  | 'asking'
  | 'parked'
  | 'owned'
  | 'lost'
  | 'held'
  | 'retried';

export interface LivedIn {
  readonly path: string;
  readonly clock: ManualClock;
  readonly core: Core;
  readonly taskIds: Stories;
  /** A copy of the file as it is now, to be damaged. */
  copy(): string;
}

const OPERATOR = { actor: 'erin', reason: 'as an example' };

export const LEASE_MS = 30_000;
const LONG = 'Sperrmüll \u{1f69a} "und" \u2028 so weiter. '.repeat(4_000);
const FILE = Buffer.alloc(60_000, 7).toString('base64');

const SAY: Readonly<Record<string, (turn: Turn, runs: number) => AsyncGenerator<Update>>> = {
  async *artifacts() {
    yield { artifact: { artifactId: 'a', name: 'Report', parts: [{ text: 'one, ' }] }, append: true };
    yield { artifact: { artifactId: 'a', parts: [{ text: 'two, ' }] }, append: true };
    yield { state: 'TASK_STATE_WORKING', message: 'half done', metadata: { progress: 50 } };
    yield {
      artifact: { artifactId: 'a', metadata: { pages: 3 }, parts: [{ text: LONG }] },
      append: true,
      lastChunk: true,
    };
    const parts = [
      { text: 'the file: ' },
      { raw: FILE, filename: 'plan.pdf', mediaType: 'application/pdf' },
      { data: null },
    ];
    yield { artifact: { artifactId: 'b', extensions: ['urn:x'], parts } };
    yield { artifact: { artifactId: 'c', parts: [{ text: 'replaced' }] } };
    yield { artifact: { artifactId: 'c', parts: [{ url: 'https://example.com/c' }, { text: 'by this' }] } };
    yield { state: 'TASK_STATE_COMPLETED', message: LONG };
  },
  async *asked({ task }) {
    if ((task.history ?? []).length > 1) yield { state: 'TASK_STATE_COMPLETED', message: 'thanks' };
    else yield { state: 'TASK_STATE_INPUT_REQUIRED', message: 'which one?' };
  },
  async *asking() {
    yield { state: 'TASK_STATE_INPUT_REQUIRED', message: 'which one?' };
  },
  // biome-ignore lint/correctness/useYield: an agent that throws before it says anything
  async *threw() {
    throw new Error('broken');
  },
  async *rejected() {
    yield { state: 'TASK_STATE_REJECTED', message: 'not me' };
  },
  async *replied() {
    yield { reply: 'at once' };
  },
  async *stepped({ step }) {
    await step('first', async () => ({ made: 1 }));
    await step('second', async () => null);
    yield { state: 'TASK_STATE_COMPLETED', message: 'done' };
  },
  // biome-ignore lint/correctness/useYield: an agent that throws before it says anything
  async *parked() {
    throw new DomainError('USER_TOKEN_REQUIRED', 'Your token is missing', { tokenHash: '' });
  },
  async *lost(_turn, runs) {
    if (runs > 1) {
      yield { artifact: { artifactId: 'again', parts: [{ text: 'second try' }] }, append: true };
      yield { state: 'TASK_STATE_COMPLETED', message: 'in the end' };
      return;
    }
    yield { artifact: { artifactId: 'again', parts: [{ text: 'first try' }] }, append: true };
    yield { artifact: { artifactId: 'only-once', parts: [{ text: 'gone' }] } };
    yield { state: 'TASK_STATE_WORKING', message: 'about to die' };
    await never();
  },
};

function agent(): Agent {
  const runs = new Map<string, number>();
  return {
    recovery: 'rerun',
    run(turn) {
      const count = (runs.get(turn.task.id) ?? 0) + 1;
      runs.set(turn.task.id, count);
      const said = SAY[textOf(turn.task.history?.[0]?.parts ?? [])];
      return said ? said(turn, count) : hang();
    },
  };
}

// biome-ignore lint/correctness/useYield: an agent that is busy for ever
async function* hang(): AsyncGenerator<Update> {
  await never();
}

function isIn(task: Task, state: string): boolean {
  return task.status.state === `TASK_STATE_${state}`;
}

/** A database that has seen everything once: every way to end, to wait, to lose a lease and to write artifacts. */
export async function livedInDatabase(t: TestContext): Promise<LivedIn> {
  const clock = createManualClock();
  const core = await createCore(t, { clock, agent: agent(), leaseMs: LEASE_MS, concurrency: 20 });
  const alice = createClient(core);
  const bob = createClient(core, {
    caller: core.caller('bob', { token: { token: 'secret', expiresAt: clock.now() + 9_000_000 } }),
  });
  const carol = createClient(core, { caller: core.caller('carol', { tenant: 'rovo:site' }), profile: ROVO });
  const reaches = (taskId: string, state: string, client = alice) =>
    advanceUntil(clock, `${state} was reached`, async () => isIn(await client.get(taskId), state));
  const start = async (story: Story, client = alice, contextId?: string) =>
    (await client.start(story, { messageId: `of-${story}`, ...(contextId === undefined ? {} : { contextId }) })).id;

  const taskIds: Record<Story, string> = {
    artifacts: await start('artifacts'),
    asked: await start('asked'),
    canceled: await start('canceled'),
    threw: await start('threw'),
    rejected: await start('rejected'),
    replied: await start('replied'),
    stepped: await start('stepped'),
    running: await start('running'),
    asking: await start('asking'),
    parked: await start('parked', bob),
    owned: await start('owned', carol, 'chat'),
    lost: await start('lost'),
    held: '',
    retried: '',
  };
  for (const story of ['artifacts', 'replied', 'stepped'] as const) await reaches(taskIds[story], 'COMPLETED');
  await reaches(taskIds.asked, 'INPUT_REQUIRED');
  await reaches(taskIds.asking, 'INPUT_REQUIRED');
  await reaches(taskIds.parked, 'AUTH_REQUIRED', bob);
  await alice.start('the blue one', { taskId: taskIds.asked, messageId: 'blue' });
  await reaches(taskIds.asked, 'COMPLETED');
  await reaches(taskIds.canceled, 'WORKING');
  await alice.cancel(taskIds.canceled);
  await alice.start('and this', { taskId: taskIds.running });
  await until('its first attempt has said something', async () => (await alice.get(taskIds.lost)).status.message);
  core.worker.freeze();
  core.addWorker({ agent: agentAfter(taskIds.lost), leaseMs: LEASE_MS, concurrency: 20 });
  await reaches(taskIds.lost, 'COMPLETED');
  const retry = { taskId: taskIds.threw, again: false, deadlineMs: 3_600_000 };
  const deps = { operator: core.operator, ids: timeOrderedIds, digest: sha256 };
  taskIds.retried = (await retryExecution(deps, OPERATOR, retry)).id;
  await reaches(taskIds.retried, 'WORKING');
  await core.tenants.put('rovo:paused', { site: 'paused' });
  const dave = createClient(core, { caller: core.caller('dave', { tenant: 'rovo:paused' }) });
  await core.operator.pauseTenant(OPERATOR, 'rovo:paused');
  taskIds.held = await start('held', dave);
  const config = { id: 'hook', taskId: taskIds.asking, url: 'https://example.com/hook', token: 'secret' };
  await core.pushConfigs.put(alice.caller.owner, config);
  await core.tenants.put('rovo:gone', { site: 'gone' });
  await core.tenants.remove('rovo:gone');

  return {
    ...{ path: core.path, clock, core, taskIds },
    copy() {
      const path = join(tempDir(t), 'copy.db');
      const db = new BetterSqlite3(core.path);
      db.prepare('vacuum into ?').run(path);
      db.close();
      return path;
    },
  };
}

/** The agent of a process that starts after the first one died. */
function agentAfter(taskId: string): Agent {
  return {
    recovery: 'rerun',
    run: (turn) => (turn.task.id === taskId && SAY.lost ? SAY.lost(turn, 2) : hang()),
  };
}
