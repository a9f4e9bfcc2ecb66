import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { serveStore } from '../../adapters/sqlite/serve-store.ts';
import type { FromStore, MessageEnd, ToStore } from '../../adapters/sqlite/store-messages.ts';
import { systemClock } from '../../src/system-clock.ts';
import { tempDir } from '../support/temp-dir.ts';

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
    const calls = [{ id: lastId, port: 'store', method: 'ping', args: [] }] as const;
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
