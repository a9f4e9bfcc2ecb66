import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Trouble } from '../support/hold-lock.ts';

/*
 * Trouble with a disk, real to the program that has it: it is the kernel that refuses, or another process that is in the
 * way. Each goes on until it is mended.
 */

/** No file of the process may grow beyond this: the kernel answers EFBIG. */
export async function limitFileSize(pid: number, bytes: number): Promise<Trouble> {
  const limit = (soft: number | 'unlimited') => {
    const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--fsize=${soft}:unlimited`]);
    assert.equal(status, 0, String(stderr));
  };
  limit(bytes);
  return { mend: async () => limit('unlimited') };
}

const inCi = process.env.CI === 'true';

/** False, or why a test that needs this is left out. Where everything has to be tested it is not left out, and fails. */
function unless(possible: boolean, reason: string): string | false {
  return possible || inCi ? false : reason;
}

export const withoutStrace = unless(spawnSync('strace', ['-V']).status === 0, 'strace is not installed here');

export interface Injection {
  /** System calls that fail. */
  readonly calls: string;
  readonly errno: 'EIO' | 'ENOSPC' | 'EROFS';
}

/** From now on the kernel answers these calls of the process with that error. */
export async function injectErrors(t: TestContext, pid: number, { calls, errno }: Injection): Promise<Trouble> {
  const options = ['-f', '-q', '-e', `trace=${calls}`, '-e', `inject=${calls}:error=${errno}`, '-o', '/dev/null'];
  const strace = spawn('strace', [...options, '-p', String(pid), '-e', 'signal=none'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => strace.kill('SIGKILL'));
  await attached(strace, pid);
  return {
    async mend() {
      strace.kill('SIGTERM');
      await once(strace, 'exit');
    },
  };
}

/** All threads of the process have this tracer. */
async function attached(strace: ChildProcess, pid: number): Promise<void> {
  const said: string[] = [];
  strace.stderr?.on('data', (data) => said.push(String(data)));
  for (;;) {
    assert.equal(strace.exitCode, null, said.join(''));
    const { stdout } = spawnSync('sh', ['-c', `cat /proc/${pid}/task/*/status | grep TracerPid`], { encoding: 'utf8' });
    const tracers = stdout.trim().split('\n');
    if (tracers.every((line) => line.endsWith(`\t${strace.pid}`))) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const DISK_BYTES = 3 * 1024 * 1024;

function mount(folder: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder]).status === 0;
}

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'connector-disk-'));
  try {
    return mount(folder) && spawnSync('umount', [folder]).status === 0;
  } finally {
    rmdirSync(folder);
  }
}

export const withoutMounts = mayMount() ? false : 'this user may mount nothing';

export interface SmallDisk {
  readonly folder: string;
  /** Somebody else takes all the room that is left: the kernel answers ENOSPC. */
  fill(): Promise<Trouble>;
}

/** A file system of 3 MB that goes with the test. */
export function smallDisk(t: TestContext): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'connector-disk-'));
  assert.ok(mount(folder));
  t.after(() => {
    // Lazily: a service of this test may still be on it.
    assert.equal(spawnSync('umount', ['--lazy', folder]).status, 0);
    rmdirSync(folder);
  });
  const filler = join(folder, 'somebody-else');
  return {
    folder,
    async fill() {
      assert.throws(() => writeFileSync(filler, Buffer.alloc(DISK_BYTES)), { code: 'ENOSPC' });
      return { mend: async () => rmSync(filler) };
    },
  };
}
