import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { textOf } from '../../core/message.ts';
import { artifactText, statusText } from '../../simulator/client/a2a.ts';
import { chunksOf } from '../e2e/agents/texts.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { BEGUN, type Ending, leftBy, type RerunRow, type TaskRow, TURN, told } from './matrix.ts';
import { metric, OPS_TOKEN } from './outage.ts';
import { createPersistentClient, type PersistentClient, startPlainClients } from './persistent-client.ts';
import { createStage, POLICIES, type Policy, type Stage } from './stage.ts';

const CHUNKS = 6;
const SCRIPT = ['say Started.', 'watched', 'step pay', `chunks ${CHUNKS}`, 'complete Done.'];
const WHOLE = chunksOf(CHUNKS, 20);

let clients: Awaited<ReturnType<typeof startPlainClients>>;
before(async () => {
  clients = await startPlainClients();
});
after(() => clients.close());

/** The message is taken while nothing is run, so its turn waits for its claim also where it could begin at once. */
async function beginPaused(stage: Stage, begin: () => Promise<void>): Promise<void> {
  const operate = async (act: string) => {
    const { code, err } = await stage.operate('runner', act);
    assert.equal(code, 0, err);
  };
  await operate('pause');
  let broken = false;
  const begun = begin().then(() => {
    broken = true;
  });
  await until('it is stored, or its process is gone', () => broken || stage.states().length > 0);
  await operate('resume');
  await begun;
}

interface Killed {
  readonly stage: Stage;
  readonly client: PersistentClient;
  readonly point: string;
  readonly policy: Policy;
  readonly row: RerunRow & { readonly waits?: true };
  readonly ending: Ending;
  /** The turn has to begin with its message. */
  readonly begins?: true;
}

/** Before its first look a process does not know whether somebody waits, and claims what comes. It is the first commit. */
async function lookedForWork(service: ServiceProcess): Promise<void> {
  await until('it has looked for work', async () => (await metric(service, 'a2a_store_commits_total')) >= 1);
}

async function killedAndBack({ stage, client, point, policy, row, ending, begins }: Killed): Promise<void> {
  const first = stage.launchToDie(point, { OPS_TOKEN });
  await first.ready();
  if (begins) await lookedForWork(first);
  if (row.waits && policy === 'rerun') await beginPaused(stage, () => client.begin(first));
  else await client.begin(first);
  await stage.died(first);
  const left = leftBy(row, policy);
  assert.deepEqual(stage.states(), left === 'no task' ? [] : [left], 'what it left');
  const written = stage.written();

  stage.unwatched();
  const second = await stage.start();
  const act = await client.goOn(second);
  const expected = { 'sends again': 'sent again', 'resumes its stream': 'resumed' }[row.client] ?? 'read';
  // Nothing holds back the end of a turn that is not run again: it may be there before the client is.
  if (policy === 'rerun' || act !== 'read') assert.equal(act, expected);
  const taskId = String(client.taskId);
  const { task } = await clients.at(second).get(taskId);
  assert.equal(task?.status.state, `TASK_STATE_${ending.state}`);
  const { runs, effects } = stage.counted(taskId);
  assert.deepEqual([runs, effects.length], [ending.runs, ending.effects], 'runs and effects');
  assert.ok(new Set(effects).size <= 1, 'one idempotency key');
  const text = artifactText(task);
  if (ending.state === 'COMPLETED') assert.equal(text, WHOLE, 'nothing lost, nothing twice');
  else {
    assert.equal(text, written, 'what was written before, and no more');
    assert.match(statusText(task), /needs review/);
  }

  if (act !== 'read') {
    assert.equal(client.view.status?.state, task?.status.state);
    assert.equal(client.view.artifacts.map(({ parts }) => textOf(parts)).join(''), text, 'what the stream showed');
  }
  assert.deepEqual(await client.repeat(second), task, 'a repeat is answered with the same task');
  assert.equal(stage.counted().runs, ending.runs, 'and runs nothing');
  assert.equal(stage.query('select 1 from task').length, 1);
  await stage.expectClean();
}

function stageOf(t: TestContext, policy: Policy) {
  const stage = createStage(t, policy);
  const client = createPersistentClient({ at: clients.at, lines: SCRIPT, onFrame: () => stage.watched() });
  return { stage, client, policy };
}

describe('a process that is killed in a turn', { concurrency: 3 }, () => {
  for (const [point, row] of Object.entries<TaskRow>(TURN)) {
    for (const policy of POLICIES) {
      test(`killed ${point}, ${policy} agent: ${told(row[policy])}`, (t) =>
        killedAndBack({ ...stageOf(t, policy), point, row, ending: row[policy] }));
    }
  }

  for (const [point, row] of Object.entries<RerunRow>(BEGUN)) {
    test(`killed ${point}: ${told(row.rerun)}`, (t) =>
      killedAndBack({ ...stageOf(t, 'rerun'), point, row, ending: row.rerun, begins: true }));
  }
});
