import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

/** Something that goes on until it is mended. */
export interface Trouble {
  mend(): Promise<void>;
}

/** Another process holds the write lock of a database. */
export async function holdLock(t: TestContext, path: string): Promise<Trouble> {
  const program = fileURLToPath(new URL('./lock-holder.js', import.meta.url));
  const child = spawn(process.execPath, [program, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  return {
    async mend() {
      child.stdin.end();
      assert.deepEqual(await exited, [0, null]);
    },
  };
}
