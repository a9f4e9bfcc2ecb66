import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { MessageChannel } from 'node:worker_threads';
import { serveStore } from '../../adapters/sqlite/serve-store.ts';
import type { FromStore, MessageEnd, StoreCall, ToStore } from '../../adapters/sqlite/store-messages.ts';
import { rule, ruleOf } from '../../core/decide/rules.ts';
import type { RuleCall } from '../../core/ports/decide.ts';
import { systemClock } from '../../src/system-clock.ts';
import { tempDir } from '../support/temp-dir.ts';
import { ALICE } from './scenario.ts';

/** A store's thread whose other side is the test. */
async function serve(t: TestContext, path: string) {
  const heard = new EventEmitter();
  const told = new EventEmitter();
  const end: MessageEnd<FromStore, ToStore> = {
    postMessage: (message) => void heard.emit('message', message),
    on: (event, listener) => told.on(event, listener),
  };
  await serveStore(end, { path, clock: systemClock });
  const tell = (message: Partial<ToStore>): void =>
    void told.emit('message', { plain: '[]', calls: [], troubles: [], close: false, ...message });
  t.after(() => tell({ close: true }));
  let lastId = 0;
  /** Answers the first message that shows it. */
  async function after(message: Partial<ToStore>, shows: (answer: FromStore) => boolean): Promise<FromStore> {
    const answered = new Promise<FromStore>((resolve) => {
      heard.on('message', (answer: FromStore) => void (shows(answer) && resolve(answer)));
    });
    tell(message);
    return answered;
  }
  const ping = (): Promise<FromStore> => {
    lastId += 1;
    const calls = [[lastId, 'store', 'ping', []]] as const;
    return after({ calls }, ({ answers }) => answers.length > 0);
  };
  return { after, ping };
}

const files = (path: string) => ['', '-wal', '-shm'].map((suffix) => `${path}${suffix}`);

test('store thread: reads that were refused while the files were away do not keep them from being read again', async (t) => {
  const path = join(tempDir(t), 'store.db');
  const thread = await serve(t, path);
  await thread.ping();
  for (const file of files(path)) renameSync(file, `${file}.away`);
  const away = await thread.ping();
  assert.equal(away.unreadable, 'moved');
  for (const file of files(path)) renameSync(`${file}.away`, file);
  assert.equal((await thread.ping()).unreadable, undefined);
  const counted = { count: 'a2a_store_failures_total', labels: { reason: 'moved' }, by: 20 };
  const late = await thread.after({ troubles: [{ fault: 'moved', operations: 20 }] }, ({ said }) =>
    said.some((each) => isDeepStrictEqual(each, counted)),
  );
  assert.equal(late.unreadable, undefined);
});

const NOTHING: ToStore = { plain: '[]', calls: [], troubles: [], close: false };

function acceptCall(id: number): StoreCall {
  const { rule: call } = rule('send', {
    message: { messageId: `m${id}`, role: 'ROLE_USER', parts: [{ text: 'hello' }] },
    ...{ fingerprint: '', policy: 'parallel', answer: 'task', deadlineMs: 60_000 },
    ...{ newTaskId: `t${id}`, newContextId: `c${id}` },
  });
  return [id, 'store', 'accept', [{ owner: ALICE }, { rule: call }]];
}

/** Ids of the calls that were answered by each commit, when `late` arrives while the first call is decided. */
async function commitsWith(t: TestContext, late: ToStore): Promise<readonly (readonly number[])[]> {
  const { port1, port2 } = new MessageChannel();
  let sent = false;
  const decideFor = (call: RuleCall) => {
    const decide: (...view: never[]) => unknown = ruleOf(call);
    return (...view: never[]) => {
      if (!sent) port1.postMessage(late);
      sent = true;
      return decide(...view);
    };
  };
  const heard: FromStore[] = [];
  const done = new Promise<void>((resolve) => {
    port1.on('message', (message: FromStore) => {
      heard.push(message);
      if (heard.flatMap(({ answers }) => answers).length === 2) resolve();
    });
  });
  await serveStore(port2, { path: join(tempDir(t), 'store.db'), clock: systemClock, decideFor });
  port1.postMessage({ ...NOTHING, plain: JSON.stringify([acceptCall(1)]) });
  await done;
  const closed = new Promise<void>((resolve) => {
    port1.on('message', (message: FromStore) => void (message.closed && resolve()));
  });
  port1.postMessage({ ...NOTHING, close: true });
  await closed;
  port1.close();
  const commits: number[][] = [];
  for (const { said, answers } of heard) {
    if (said.some((each) => 'count' in each && each.count === 'a2a_store_commits_total')) commits.push([]);
    for (const answer of answers) commits.at(-1)?.push('error' in answer ? Number.NaN : answer[0]);
  }
  return commits;
}

test('store thread: messages that come while a group is written are accepted by the same commit', async (t) => {
  assert.deepEqual(await commitsWith(t, { ...NOTHING, plain: JSON.stringify([acceptCall(2)]) }), [[1, 2]]);
});

test('store thread: what comes with other calls waits for the group that is written', async (t) => {
  const ping: StoreCall = [2, 'store', 'ping', []];
  assert.deepEqual(await commitsWith(t, { ...NOTHING, calls: [ping] }), [[1], [2]]);
});
