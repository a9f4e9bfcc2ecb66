import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import type { SqliteStore } from '../../adapters/sqlite/open.ts';
import { textOf } from '../../core/message.ts';
import type { Agent } from '../../core/ports/agent.ts';
import { accept, claim, claimOne, LEASE_MS, write } from '../store/scenario.ts';
import { openSqliteSubject, type SqliteSubject } from '../store/sqlite-subject.ts';
import { type Client, createClient } from '../support/client.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { type Core, createCore } from '../support/service.ts';

/*
 * What one call costs, counted and not timed, so that a busy machine cannot hide it: statements that the store runs (the
 * begin and commit of its writes among them), rows that they write, commits. Whoever makes a number grow makes every
 * call pay for it: that may be right, and then it is changed here as well. docs/performance.md has their microseconds.
 */

interface Cost {
  readonly statements: number;
  readonly rows: number;
  readonly commits: number;
}

const NOTHING: Cost = { statements: 0, rows: 0, commits: 0 };

function costSince(before: ReturnType<SqliteStore['stats']>, after: ReturnType<SqliteStore['stats']>): Cost {
  return {
    statements: after.statements - before.statements,
    rows: after.rowsWritten - before.rowsWritten,
    commits: after.commits - before.commits,
  };
}

/** Completes with the text back, as the agent of the benchmark does. */
const echo: Agent = {
  recovery: 'rerun',
  async *run({ message }) {
    yield { state: 'TASK_STATE_COMPLETED', message: `echo: ${textOf(message.parts)}` };
  },
};

interface SetUp {
  readonly idle?: boolean;
  readonly recovery?: Agent['recovery'];
  readonly concurrency?: number;
}

/** Time stands still, so nothing polls. */
async function serviceOf(t: TestContext, setUp: SetUp = {}): Promise<{ readonly core: Core; readonly client: Client }> {
  const { idle = false, recovery = 'rerun', concurrency = 100 } = setUp;
  const core = await createCore(t, { agent: { ...echo, recovery }, clock: createManualClock(), concurrency, idle });
  return { core, client: createClient(core) };
}

/** Until the store has had nothing to do for some turns of the event loop. */
async function quiet({ stats }: Core): Promise<void> {
  for (let idle = 0, seen = stats().statements; idle < 10; idle += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (stats().statements !== seen) idle = 0;
    seen = stats().statements;
  }
}

/** With what the call leaves to be done after its answer. */
async function costOfCall(core: Core, act: () => Promise<unknown>): Promise<Cost> {
  await quiet(core);
  const before = core.stats();
  await act();
  await quiet(core);
  return costSince(before, core.stats());
}

async function costIn({ sqlite }: SqliteSubject, act: () => Promise<unknown>): Promise<Cost> {
  const before = sqlite.stats();
  await act();
  return costSince(before, sqlite.stats());
}

const times = (count: number, act: (n: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, (_, n) => act(n)));

describe('calls', () => {
  test('counts: a message that is accepted and left to somebody else', async (t) => {
    const { core, client } = await serviceOf(t, { idle: true });
    await client.start('first');
    assert.deepEqual(await costOfCall(core, () => client.start('second')), { statements: 10, rows: 6, commits: 1 });
  });

  /** The turn begins in the commit that accepts its message, or is claimed in one of its own. */
  const turns = [
    {
      recovery: 'rerun',
      send: { statements: 16, rows: 10, commits: 2 },
      stream: { statements: 16, rows: 10, commits: 2 },
    },
    {
      recovery: 'review',
      send: { statements: 30, rows: 15, commits: 3 },
      stream: { statements: 29, rows: 15, commits: 3 },
    },
  ] as const;
  for (const { recovery, send, stream } of turns) {
    test(`counts: a message to a ${recovery} agent, from its acceptance over its turn to its answer`, async (t) => {
      const { core, client } = await serviceOf(t, { recovery });
      await client.send('first');
      assert.deepEqual(await costOfCall(core, () => client.send('second')), send);
    });

    test(`counts: a stream of the same from a ${recovery} agent`, async (t) => {
      const { core, client } = await serviceOf(t, { recovery });
      await client.send('first');
      const drain = async () => {
        for await (const _ of await client.stream('second')) {
        }
      };
      assert.deepEqual(await costOfCall(core, drain), stream);
    });
  }

  test('counts: a repeat', async (t) => {
    const { core, client } = await serviceOf(t);
    const { id } = await client.send('first', { messageId: 'm' });
    const again = async () => assert.equal((await client.send('first', { messageId: 'm' })).id, id);
    assert.deepEqual(await costOfCall(core, again), { statements: 5, rows: 0, commits: 1 });
  });

  test('counts: GetTask, whatever there is beside that task', async (t) => {
    const { core, client } = await serviceOf(t);
    const { id } = await client.send('first');
    const cost = await costOfCall(core, () => client.get(id));
    assert.deepEqual(cost, { ...NOTHING, statements: 1 });
    await times(50, (n) => client.send(`another ${n}`));
    assert.deepEqual(await costOfCall(core, () => client.get(id)), cost);
  });

  test('counts: ListTasks, by the tasks on the page and not by those behind it', async (t) => {
    const { core, client } = await serviceOf(t);
    const list = (pageSize: number) => () =>
      core.operations.listTasks(client.caller, { filter: {}, pageSize, includeArtifacts: false });
    await times(80, (n) => client.send(`message ${n}`));
    assert.deepEqual(await costOfCall(core, list(1)), { ...NOTHING, statements: 4 });
    assert.deepEqual(await costOfCall(core, list(50)), { ...NOTHING, statements: 4 });
  });

  test('counts: 32 messages at once are accepted and begun in one commit, and answered in one', async (t) => {
    const { core, client } = await serviceOf(t);
    await client.send('first');
    const cost = await costOfCall(core, () => times(32, (n) => client.send(`message ${n}`)));
    assert.deepEqual(cost, { statements: 357, rows: 320, commits: 2 });
  });

  test('counts: 32 messages at once to a review agent are accepted, claimed and answered in one commit each', async (t) => {
    const { core, client } = await serviceOf(t, { recovery: 'review' });
    await client.send('first');
    const cost = await costOfCall(core, () => times(32, (n) => client.send(`message ${n}`)));
    assert.deepEqual(cost, { statements: 526, rows: 418, commits: 3 });
  });

  test('counts: a claim that took all that waited does not look again, however full', async (t) => {
    const { core, client } = await serviceOf(t, { recovery: 'review', concurrency: 32 });
    await client.send('first');
    const { commits } = await costOfCall(core, () => times(32, (n) => client.send(`message ${n}`)));
    assert.equal(commits, 3);
  });

  test('counts: 32 messages at once are one commit where nobody runs them', async (t) => {
    const { core, client } = await serviceOf(t, { idle: true });
    const { commits } = await costOfCall(core, () => times(32, (n) => client.start(`message ${n}`)));
    assert.equal(commits, 1);
  });
});

describe('turns', () => {
  test('counts: a claim, by the turns that it takes', async (t) => {
    const subject = await openSqliteSubject(t);
    assert.deepEqual(await costIn(subject, () => claim(subject)), { statements: 4, rows: 0, commits: 1 });
    await accept(subject, { id: 't1' });
    assert.deepEqual(await costIn(subject, () => claim(subject)), { statements: 12, rows: 4, commits: 1 });
    await times(10, (n) => accept(subject, { id: `more-${n}` }));
    assert.deepEqual(await costIn(subject, () => claim(subject)), { statements: 38, rows: 22, commits: 1 });
  });

  test('counts: a heartbeat, by the leases that it extends', async (t) => {
    const subject = await openSqliteSubject(t);
    const beat = () => subject.store.heartbeat('worker-1', LEASE_MS);
    assert.deepEqual(await costIn(subject, beat), { statements: 3, rows: 0, commits: 1 });
    await times(3, (n) => accept(subject, { id: `t${n}` }));
    await claim(subject);
    assert.deepEqual(await costIn(subject, beat), { statements: 6, rows: 3, commits: 1 });
  });

  test('counts: a chunk of an artifact, the first and the thousandth, pages of the log among them', async (t) => {
    const subject = await openSqliteSubject(t);
    // A checkpoint would begin the file anew.
    subject.sqlite.pragma('wal_autocheckpoint = 0');
    await accept(subject, { id: 't1' });
    const { fence } = await claimOne(subject);
    const append = () => write(subject, fence, { text: 'x'.repeat(200), joined: true });
    const logBytes = () => statSync(`${subject.path}-wal`).size;
    async function hundred(): Promise<number> {
      const before = logBytes();
      for (let n = 0; n < 100; n += 1) await append();
      return logBytes() - before;
    }
    assert.deepEqual(await costIn(subject, append), { statements: 9, rows: 5, commits: 1 });
    await hundred();
    const early = await hundred();
    for (let n = 0; n < 10; n += 1) await hundred();
    const late = await hundred();
    assert.ok(late <= early * 1.05, `${late} bytes of log for 100 late chunks, ${early} for early ones`);
    assert.deepEqual(await costIn(subject, append), { statements: 8, rows: 3, commits: 1 });
  });
});
