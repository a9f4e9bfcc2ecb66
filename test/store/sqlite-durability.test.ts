import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../support/temp-dir.ts';
import { startChild } from './child-process.ts';

/*
 * That a commit is on the disk before it is answered cannot be shown by killing a process: the kernel keeps what was
 * written. The order of its system calls shows it.
 */

const traced = spawnSync('strace', ['-V']).status === 0;
const inCi = process.env.CI === 'true';
const skip = traced || inCi ? false : 'strace is not installed here; with CI=true this test fails instead';

/** Completed calls in order: `write` of a task id to the WAL, `sync` of the WAL, `answer` that names the id. */
function readTrace(file: string, ids: readonly string[]): readonly string[] {
  const steps: string[] = [];
  const syncing = new Set<string>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [pid = ''] = line.split(' ', 1);
    const inWal = /\d+<[^>]*-wal>/.test(line);
    const named = ids.filter((id) => line.includes(id));
    if (/ p?write(64)?\(/.test(line)) {
      if (inWal) steps.push(...named.map((id) => `write ${id}`));
      else if (/ write\(1</.test(line)) steps.push(...named.map((id) => `answer ${id}`));
    }
    if (/ (fsync|fdatasync)\(/.test(line) && inWal) {
      if (/= 0$/.test(line)) steps.push('sync');
      else syncing.add(pid);
    } else if (/(fsync|fdatasync) resumed.*= 0$/.test(line) && syncing.delete(pid)) {
      steps.push('sync');
    }
  }
  return steps;
}

test('durability: the WAL is synced between the write of an accepted task and its answer', { skip }, async (t) => {
  assert(traced, 'this test needs strace: install the Debian package of that name');
  const folder = tempDir(t);
  const trace = join(folder, 'trace');
  const calls = 'trace=fsync,fdatasync,pwrite64,write';
  const child = await startChild(t, join(folder, 'store.db'), [
    'strace',
    '-f',
    '-y',
    '-s',
    '9000',
    '-e',
    calls,
    '-o',
    trace,
  ]);
  const ids = ['task-alpha', 'task-beta', 'task-gamma'];
  for (const id of ids) {
    assert.deepEqual(await child.send({ accepts: [{ id, key: id }] }), [{ kind: 'create', id }]);
  }
  await child.end();
  const steps = readTrace(trace, ids);
  for (const id of ids) {
    const written = steps.lastIndexOf(`write ${id}`, steps.indexOf(`answer ${id}`));
    const synced = steps.indexOf('sync', written);
    const answered = steps.indexOf(`answer ${id}`);
    assert(written >= 0, `no write of ${id} to the WAL was seen before its answer: ${steps.join(', ')}`);
    assert(synced > written && synced < answered, `${id} was answered before a sync: ${steps.join(', ')}`);
  }
});
