import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Connection, openConnection } from '../../adapters/sqlite/database.ts';
import { createHealth } from '../../adapters/sqlite/health.ts';
import { createKeptTasks, type KeptTask } from '../../adapters/sqlite/kept-tasks.ts';
import type { Fence, TaskView } from '../../core/ports/task-store.ts';
import type { Credential } from '../../core/ports/vault.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { tempDir } from '../support/temp-dir.ts';
import { withTime } from './operator-scenario.ts';
import {
  ALICE,
  accept,
  become,
  claim,
  claimOne,
  end,
  LEASE_MS,
  message,
  rejectsWith,
  say,
  sequences,
  status,
  write,
} from './scenario.ts';
import { openSqliteSubject, type SqliteSubject } from './sqlite-subject.ts';

/*
 * A write of a turn uses what this connection wrote to its task before. Each test lets it do so once, changes something
 * in another way, and shows that the next write sees that.
 */

const HOUR = 3_600_000;
const CAROL = { actor: 'carol' };

function token(subject: SqliteSubject, hash: string, lifeMs = HOUR): Credential {
  return { hash, expiresAt: subject.now() + lifeMs };
}

/** A turn that has written something. */
async function running(subject: SqliteSubject, id: string, credential?: Credential): Promise<Fence> {
  await accept(subject, { id, ...(credential && { credential }) });
  const { fence } = await claimOne(subject);
  await write(subject, fence, { text: 'first' });
  return fence;
}

/** What the next write under the fence is shown. */
async function shown({ store }: SqliteSubject, fence: Fence): Promise<TaskView> {
  let seen: TaskView | undefined;
  await store.update({ taskId: fence.taskId, fence }, (view) => {
    seen = view;
    return undefined;
  });
  assert(seen);
  return seen;
}

async function open(t: TestContext): Promise<{ readonly subject: SqliteSubject; readonly fence: Fence }> {
  const subject = await openSqliteSubject(t);
  return { subject, fence: await running(subject, 't1') };
}

const writesNothing = (subject: SqliteSubject, fence: Fence) =>
  rejectsWith(write(subject, fence, { text: 'late' }), 'LEASE_LOST');

test('kept tasks: writes of one turn follow each other', async (t) => {
  const { subject, fence } = await open(t);
  await Promise.all([write(subject, fence, { text: 'second' }), write(subject, fence, { text: 'third' })]);
  await write(subject, fence, { text: 'fourth' });
  assert.deepEqual(await sequences(subject, 't1'), [1, 2, 3, 4, 5]);
  assert.equal((await shown(subject, fence)).record.sequence, 5);
});

test('kept tasks: what another process did to the task is seen', async (t) => {
  const { subject, fence } = await open(t);
  const other = await openSqliteSubject(t, subject.path);
  await write(other, fence, { text: 'from there' });
  assert.equal((await shown(subject, fence)).record.sequence, 3);
  await write(subject, fence, { text: 'from here' });
  assert.deepEqual(await sequences(subject, 't1'), [1, 2, 3, 4]);
  await end(other, 't1', 'TASK_STATE_CANCELED');
  await rejectsWith(shown(subject, fence), 'LEASE_LOST');
});

test('kept tasks: a turn that another process has claimed is lost', async (t) => {
  const { subject, fence } = await open(t);
  const other = await openSqliteSubject(t, subject.path);
  other.advance(LEASE_MS + 1);
  await claimOne(other, 'worker-2');
  await writesNothing(subject, fence);
});

test('kept tasks: a turn that another worker here has claimed is lost', async (t) => {
  const { subject, fence } = await open(t);
  subject.advance(LEASE_MS + 1);
  await claimOne(subject, 'worker-2');
  await writesNothing(subject, fence);
});

test('kept tasks: a canceled task is written no more, also one whose turn began with its message', async (t) => {
  const { subject, fence } = await open(t);
  await end(subject, 't1', 'TASK_STATE_CANCELED');
  await writesNothing(subject, fence);

  const { begun } = await subject.store.accept(
    { owner: ALICE, lease: { worker: 'worker-1', leaseMs: LEASE_MS } },
    ({ now }) => {
      const task = { id: 't2', contextId: 'c2' };
      const [first, next] = [status('TASK_STATE_SUBMITTED', now), status('TASK_STATE_WORKING', now)];
      const events = [{ task: { ...task, status: first } }];
      return {
        ...({ kind: 'create', task, exclusive: false, answer: 'task' } as const),
        change: { status: first, messages: [message('hi')], events, executions: [{ open: 1 }] },
        begin: { status: next, events: [{ statusUpdate: { taskId: 't2', contextId: 'c2', status: next } }] },
      };
    },
  );
  assert(begun);
  assert.equal((await shown(subject, begun.fence)).record.status.state, 'TASK_STATE_WORKING');
  await end(subject, 't2', 'TASK_STATE_CANCELED');
  await writesNothing(subject, begun.fence);
});

test('kept tasks: a message that came meanwhile is handed to the next write', async (t) => {
  const { subject, fence } = await open(t);
  await say(subject, 't1', 'and this');
  const { pending } = await subject.store.update({ taskId: 't1', fence }, () => undefined);
  assert.deepEqual(pending, [{ ordinal: 2, message: message('and this') }]);
  assert.equal((await shown(subject, fence)).open.length, 2);
});

test('kept tasks: a removed tenant and an erased person are written no more', async (t) => {
  const { subject, fence } = await open(t);
  await subject.tenants.remove(ALICE.tenant);
  await writesNothing(subject, fence);

  const erased = await open(t);
  const { operator } = erased.subject;
  await withTime(erased.subject, operator.erasePrincipal(CAROL, { principal: ALICE.principal, pseudonym: 'p' }));
  await writesNothing(erased.subject, erased.fence);
});

test('kept tasks: a task that is erased and made anew is another one', async (t) => {
  const { subject, fence } = await open(t);
  const { operator } = subject;
  await withTime(subject, operator.erasePrincipal(CAROL, { principal: ALICE.principal, pseudonym: 'p' }));
  await accept(subject, { id: 't1' });
  await writesNothing(subject, fence);
});

test('kept tasks: a token counts as long as it lasts and until there is another one', async (t) => {
  const subject = await openSqliteSubject(t);
  const fence = await running(subject, 't1', token(subject, 'a'));
  assert.equal((await shown(subject, fence)).credentialHash, 'a');
  await subject.store.renewCredential(ALICE, token(subject, 'b', 2 * HOUR), () => undefined);
  assert.equal((await shown(subject, fence)).credentialHash, 'b');
  await write(subject, fence, { text: 'second' });
  await accept(subject, { id: 't2', credential: token(subject, 'c', 3 * HOUR) });
  assert.equal((await shown(subject, fence)).credentialHash, 'c');
  await write(subject, fence, { text: 'third' });
  subject.advance(3 * HOUR);
  assert.equal((await shown(subject, fence)).credentialHash, undefined);
});

test('kept tasks: a token that was refused for another task, or for this one, is there no more', async (t) => {
  const subject = await openSqliteSubject(t);
  const fence = await running(subject, 't1', token(subject, 'a'));
  await accept(subject, { id: 't2' });
  await subject.store.update({ taskId: 't2' }, (view) =>
    become(view, 'TASK_STATE_AUTH_REQUIRED', {
      parked: { ordinal: 1, tokenHash: 'a' },
      executions: [{ close: 1, outcome: 'closed' }],
    }),
  );
  assert.equal((await shown(subject, fence)).credentialHash, undefined);

  await accept(subject, { id: 't3', credential: token(subject, 'b') });
  const parked = { parked: { ordinal: 1, tokenHash: 'b' } };
  await subject.store.update({ taskId: 't1', fence }, (view) => become(view, 'TASK_STATE_WORKING', parked));
  assert.equal((await shown(subject, fence)).credentialHash, undefined);
});

test('kept tasks: what others do to objects that they were given or gave changes nothing', async (t) => {
  const { subject, fence } = await open(t);
  const given: { message?: string; metadata?: { told: string[] } } = {};
  await subject.store.update({ taskId: 't1', fence }, (view) => {
    const change = become(view, 'TASK_STATE_WORKING', { metadata: { told: ['all'] } });
    Object.assign(given, { metadata: change.metadata, status: change.status });
    return change;
  });
  given.metadata?.told.push('more');
  Object.assign((given as { status?: object }).status ?? {}, { state: 'TASK_STATE_FAILED' });
  const { record } = await shown(subject, fence);
  assert.equal(record.status.state, 'TASK_STATE_WORKING');
  assert.deepEqual(record.metadata, { told: ['all'] });
  Object.assign(record.status, { state: 'TASK_STATE_FAILED' });
  assert.equal((await shown(subject, fence)).record.status.state, 'TASK_STATE_WORKING');
});

test('kept tasks: a write that was rolled back with its group is as if it had not been', async (t) => {
  const { subject, fence } = await open(t);
  const spoilt = { executions: [{ open: 1 }, { close: 9, outcome: 'done' }] } as const;
  const results = await Promise.allSettled([
    write(subject, fence, { text: 'second' }),
    accept(subject, { id: 'broken', change: spoilt }),
  ]);
  assert.deepEqual(
    results.map((each) => each.status),
    ['fulfilled', 'rejected'],
  );
  await write(subject, fence, { text: 'third' });
  assert.deepEqual(await sequences(subject, 't1'), [1, 2, 3, 4]);
});

test('kept tasks: a group whose commit failed is as if it had not been', async (t) => {
  const { subject, fence } = await open(t);
  const pages = Number(subject.sqlite.pragma('page_count'));
  subject.sqlite.pragma(`max_page_count = ${pages}`);
  const large = (n: number) => write(subject, fence, { text: `${n}`.padEnd(20_000, 'x') });
  const results = await Promise.allSettled([write(subject, fence, { text: 'second' }), ...[1, 2, 3, 4].map(large)]);
  assert.deepEqual(new Set(results.map((each) => each.status)), new Set(['rejected']));
  subject.sqlite.pragma(`max_page_count = ${pages + 1_000}`);
  await write(subject, fence, { text: 'third' });
  assert.deepEqual(await sequences(subject, 't1'), [1, 2, 3]);
});

test('kept tasks: a claim that was undone alone has claimed nothing', async (t) => {
  const { subject } = await open(t);
  await accept(subject, { id: 't2' });
  await accept(subject, { id: 't3' });
  const request = { agent: 'agent', worker: 'worker-1', leaseMs: LEASE_MS, limit: 10 };
  let begun = 0;
  const refused = subject.store.claim(request, (view) => {
    begun += 1;
    if (begun % 2 === 0) throw new Error('refused');
    return become(view, 'TASK_STATE_WORKING');
  });
  await assert.rejects(refused, { message: 'refused' });
  for (const taskId of ['t2', 't3']) {
    await writesNothing(subject, { taskId, ordinal: 1, worker: 'worker-1', attempt: 1 });
  }
  assert.equal((await claim(subject)).length, 2);
});

test('kept tasks: a token is found expired by those that were claimed before, too', async (t) => {
  const subject = await openSqliteSubject(t);
  await accept(subject, { id: 't1', credential: token(subject, 'a', 1_000) });
  const request = { agent: 'agent', worker: 'worker-1', leaseMs: LEASE_MS, limit: 1 };
  const { claimed } = await subject.store.claim(request, (view) => become(view, 'TASK_STATE_WORKING'));
  const [{ fence } = assert.fail('nothing was claimed')] = claimed;
  assert.equal((await shown(subject, fence)).credentialHash, 'a');
  subject.advance(1_000);
  assert.equal((await shown(subject, fence)).credentialHash, undefined);
});

function connect(t: TestContext): Connection {
  const clock = createManualClock();
  const health = createHealth({ clock });
  const connection = openConnection(join(tempDir(t), 'store.db'), { now: clock.now(), health });
  t.after(() => connection.close());
  return connection;
}

function task(id: string, chars = 2): KeptTask {
  const record = {
    ...{ id, owner: ALICE, contextId: 'c', status: status('TASK_STATE_WORKING', 0), reply: false },
    ...{ sequence: 1, messages: 1, createdAt: 0, updatedAt: 0 },
  };
  const turn = { ordinal: 1, attempt: 1, lease_owner: 'worker-1' };
  const texts = { status: '{}'.padEnd(chars), metadata: null };
  return { pk: 1, owner: 1, record, texts, tenant: 'active', credential: undefined, open: [turn] };
}

test('kept tasks: there are 256 at most, the oldest go first, and none is large', (t) => {
  const kept = createKeptTasks(connect(t));
  for (let n = 0; n < 257; n += 1) kept.keep(task(`t${n}`));
  const there = Array.from({ length: 257 }, (_, n) => kept.find(`t${n}`) !== undefined);
  assert.deepEqual(there, [false, ...Array(256).fill(true)]);
  kept.keep(task('t1', 8_193));
  assert.equal(kept.find('t1'), undefined);
});

test('kept tasks: whatever writes a row that one is read from drops all, unless it says that it need not', (t) => {
  const connection = connect(t);
  const kept = createKeptTasks(connection);
  const insert = "(tenant, principal, agent) values (?, 'p', 'a')";
  const keeps = (sql: string, followed?: 'followed') => {
    kept.keep(task('t1'));
    connection.prepare<[string]>(sql, followed).run('x');
    return kept.find('t1') !== undefined;
  };
  kept.keep(task('t1'));
  connection.prepare<[string]>(`insert into owner ${insert}`).insert('y');
  assert.equal(kept.find('t1'), undefined);
  assert.equal(keeps(`insert into owner ${insert}`), false);
  assert.equal(keeps('delete from owner where tenant = ?'), false);
  assert.equal(keeps('delete from owner where tenant = ?'), true, 'there was none to delete');
  assert.equal(keeps(`insert or ignore into owner ${insert}`), false);
  assert.equal(keeps('update or fail owner set principal = ?', 'followed'), true);
  assert.equal(keeps(`insert into probe (id, at) values (length(?), 1)`), true);
  assert.equal(keeps('with other as (select ? as agent) update owner set agent = (select agent from other)'), false);
});
