import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SqliteOpenError } from '../../adapters/sqlite/open-error.ts';
import { ACCEPT_ARGS, type SentRule } from '../../adapters/sqlite/sent-args.ts';
import type { FromStore, MessageEnd, StoreCall, ToStore } from '../../adapters/sqlite/store-messages.ts';
import { connectStore, openThreadedStore } from '../../adapters/sqlite/threaded-store.ts';
import { rule } from '../../core/decide/rules.ts';
import type { SendCommand } from '../../core/decide/send.ts';
import { isDomainError } from '../../core/errors.ts';
import type { Transition } from '../../core/ports/decide.ts';
import type { Written } from '../../core/ports/wakeups.ts';
import { createWakeups } from '../../core/runtime/wakeups.ts';
import { systemClock } from '../../src/system-clock.ts';
import { holdLock } from '../support/hold-lock.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';
import { ALICE, message, rejectsWith } from './scenario.ts';
import { createRecordingWakeups } from './subject.ts';

const SCRIPT = new URL('../../src/store-thread.js', import.meta.url);
const parts = () => ({ clock: systemClock, wakeups: createRecordingWakeups(), telemetry: silentTelemetry });

const send = (id: string, fingerprint = 'f') =>
  rule('send', {
    ...{ message: message('hello'), fingerprint, policy: 'parallel', answer: 'task' },
    ...{ deadlineMs: 60_000, newTaskId: id, newContextId: `context of ${id}` },
  });

/** The thread's side of a store that is told what a test wants it to be told. */
async function connectToNobody(path: string, postMessage: (message: ToStore) => void = () => {}) {
  const end = new EventEmitter();
  const nobody = Object.assign(end, { postMessage }) as unknown as MessageEnd<ToStore, FromStore>;
  const nothing: FromStore = {
    answers: [],
    topics: [],
    told: '',
    all: false,
    said: [],
    lost: undefined,
    unreadable: undefined,
  };
  const say = (said: Partial<FromStore>): void => void end.emit('message', { ...nothing, ...said });
  let leave = (): void => {};
  const gone = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const connecting = connectStore(nobody, { path, ...parts() }, gone);
  say({ opened: true });
  return { ...(await connecting), say, leave };
}

test('thread: what it commits is read at once on this side, and its wake-ups are heard here', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const options = parts();
  const { store } = await openThreadedStore(SCRIPT, { path, ...options });
  t.after(() => store.close());
  const accepted = await store.accept({ owner: ALICE }, send('t1'));
  assert.deepEqual(await store.record(ALICE, 't1'), accepted.record);
  assert.deepEqual(options.wakeups.notified(), ['task:t1', 'turn:t1', 'work']);
});

test('thread: what it wrote to a task comes with the notice of it', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const wakeups = createWakeups(systemClock);
  const { store } = await openThreadedStore(SCRIPT, { ...parts(), path, wakeups });
  t.after(() => store.close());
  const heard: (Written | undefined)[] = [];
  await store.accept({ owner: ALICE }, send('t1'));
  const told = wakeups.listen('task:t1', { wake: (_named, written) => heard.push(written) });
  const [accepted] = await store.events(ALICE, 't1', 0, 9);
  assert.deepEqual(told?.events, [accepted]);
  await store.update({ taskId: 't1' }, rule('cancel', undefined));
  const canceled = await store.events(ALICE, 't1', 1, 9);
  assert.deepEqual(
    heard.map((each) => each && { first: each.first, last: each.last, reply: each.reply, events: each.events }),
    [{ first: 2, last: 2, reply: false, events: canceled }],
  );
});

test('thread: transitions are heard before the promise resolves', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const { store } = await openThreadedStore(SCRIPT, { path, ...parts() });
  t.after(() => store.close());
  await store.accept({ owner: ALICE }, send('t1'));
  const heard: Transition[] = [];
  const moved = (transition: Transition): void => void heard.push(transition);
  const canceled = store.update({ taskId: 't1' }, Object.assign(rule('cancel', undefined), { moved }));
  await canceled;
  const [from, to] = ['TASK_STATE_SUBMITTED', 'TASK_STATE_CANCELED'] as const;
  assert.deepEqual(heard, [{ taskId: 't1', contextId: 'context of t1', owner: ALICE, from, to }]);
});

test('thread: while another program holds the file, reads are answered and the write waits for its turn', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const { store } = await openThreadedStore(SCRIPT, { path, ...parts() });
  t.after(() => store.close());
  await store.accept({ owner: ALICE }, send('t1'));
  const lock = await holdLock(t, path);
  let accepted = false;
  const accepting = store.accept({ owner: ALICE }, send('t2')).then(() => {
    accepted = true;
  });
  for (let n = 0; n < 100; n += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal((await store.record(ALICE, 't1'))?.id, 't1');
  }
  assert.equal(accepted, false);
  await lock.mend();
  await accepting;
});

test('thread: a decide function that is no rule is refused, and nothing is written', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const { store } = await openThreadedStore(SCRIPT, { path, ...parts() });
  t.after(() => store.close());
  await store.accept({ owner: ALICE }, send('t1'));
  await rejectsWith(
    store.update({ taskId: 't1' }, () => assert.fail('it cannot be called there')),
    'INTERNAL',
  );
});

test('thread: a call that cannot be sent is refused alone, and no later one waits for it', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const { store, tenants } = await openThreadedStore(SCRIPT, { path, ...parts() });
  t.after(() => store.close());
  const unsendable = { ...message('hello'), metadata: { large: 1n as unknown as number } };
  const data = { ...(send('t2').rule?.data as object), message: unsendable } as unknown as SendCommand;
  const uncloned = { call: (() => 1) as unknown as string };
  const [first, second, third, removed, put] = await Promise.allSettled([
    store.accept({ owner: ALICE }, send('t1')),
    store.accept({ owner: ALICE }, rule('send', data)),
    store.accept({ owner: ALICE }, send('t3')),
    tenants.remove('another'),
    tenants.put('one', uncloned),
  ]);
  assert.deepEqual(
    [first, third, removed].map(({ status }) => status),
    Array(3).fill('fulfilled'),
  );
  for (const refused of [second, put]) {
    assert.ok(refused.status === 'rejected' && isDomainError(refused.reason, 'INTERNAL'));
    assert.match(String((refused.reason.cause as Error).message), /cannot be sent/);
  }
  await store.ping();
  assert.equal((await tenants.get('another'))?.status, 'removed');
  assert.equal(await store.record(ALICE, 't2'), undefined);
});

test('thread: what one message cannot hold goes in several', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const { store: other } = await openThreadedStore(SCRIPT, { path, ...parts() });
  t.after(() => other.close());
  const sent: string[][] = [];
  const { store } = await connectToNobody(path, ({ plain }) => {
    const calls = JSON.parse(plain) as readonly StoreCall[];
    const ids = calls.map(([, , , args]) => {
      const [, decide] = ACCEPT_ARGS.receive(args);
      return ((decide as SentRule).rule.data as SendCommand).newTaskId;
    });
    if (ids.length > 1) throw new RangeError('Invalid string length');
    if (ids.length > 0) sent.push(ids);
  });
  for (let n = 0; n < 21; n += 1) store.accept({ owner: ALICE }, send(`t${n}`)).catch(() => {});
  await until('every call is sent', () => sent.length === 21);
  assert.deepEqual(
    sent.flat(),
    Array.from({ length: 21 }, (_, n) => `t${n}`),
  );
});

test('thread: an error of a rule comes back with its code and its details', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const { store } = await openThreadedStore(SCRIPT, { path, ...parts() });
  t.after(() => store.close());
  const key = { contextId: '', messageId: 'm1', fingerprint: 'f' };
  await store.accept({ owner: ALICE, key }, send('t1'));
  const other = { ...key, fingerprint: 'g' };
  await assert.rejects(store.accept({ owner: ALICE, key: other }, send('t2', 'g')), (error) => {
    assert.ok(isDomainError(error, 'MESSAGE_ID_CONFLICT'));
    assert.deepEqual(error.violations, [
      { field: 'message.messageId', description: 'was already used with other content' },
    ]);
    assert.match(error.stack ?? '', /decideSend/);
    return true;
  });
});

test('thread: a file that cannot be opened is refused as without a thread', async (t) => {
  await assert.rejects(openThreadedStore(SCRIPT, { path: tempDir(t), ...parts() }), (error) => {
    assert.ok(error instanceof SqliteOpenError);
    assert.equal(error.code, 'UNUSABLE');
    assert.match(error.message, /name a file/);
    return true;
  });
});

test('thread: what was asked before the close is committed, what is asked after it is refused', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const { store } = await openThreadedStore(SCRIPT, { path, ...parts() });
  const accepting = store.accept({ owner: ALICE }, send('t1'));
  const closing = store.close();
  assert.equal((await accepting).record.id, 't1');
  await rejectsWith(store.ping(), 'STORE_UNAVAILABLE');
  await rejectsWith(store.record(ALICE, 't1'), 'STORE_UNAVAILABLE');
  await closing;
});

test('thread: one that has stopped is given so many writes and no more', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const { store: other } = await openThreadedStore(SCRIPT, { path, ...parts() });
  t.after(() => other.close());
  const { store } = await connectToNobody(path);
  for (let n = 0; n < 10_000; n += 1) store.ping().catch(() => {});
  await assert.rejects(store.ping(), (error) => {
    assert.ok(isDomainError(error, 'STORE_UNAVAILABLE'));
    assert.equal(error.storeFault, 'locked');
    return true;
  });
});

test('thread: when it is gone nobody waits for it', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const { store: other } = await openThreadedStore(SCRIPT, { path, ...parts() });
  t.after(() => other.close());
  const { store, leave } = await connectToNobody(path);
  const waiting = store.ping();
  leave();
  await rejectsWith(waiting, 'STORE_UNAVAILABLE');
  await rejectsWith(store.ping(), 'STORE_UNAVAILABLE');
  await store.close();
});

test('thread: damage that it found keeps this side from reading, and damage found here keeps it from writing', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const { store: other } = await openThreadedStore(SCRIPT, { path, ...parts() });
  t.after(() => other.close());
  const { store, say } = await connectToNobody(path);
  assert.equal(await store.record(ALICE, 't1'), undefined);
  say({ unreadable: 'moved' });
  await rejectsWith(store.record(ALICE, 't1'), 'STORE_UNAVAILABLE');
  say({});
  assert.equal(await store.record(ALICE, 't1'), undefined);
  say({ lost: 'damaged', unreadable: 'damaged' });
  await rejectsWith(store.record(ALICE, 't1'), 'STORE_UNAVAILABLE');
  await rejectsWith(store.ping(), 'STORE_UNAVAILABLE');
});

test('thread: an error that nobody caught there ends the process', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const program = fileURLToPath(new URL('./crashing-store.js', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [program, path], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /a fault in the store's thread/);
});
