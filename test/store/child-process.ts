import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ChildAnswer, ChildCommand } from './accept-child.ts';

export interface Child {
  send(command: ChildCommand): Promise<readonly ChildAnswer[]>;
  /** Ends it in an orderly way and waits until it is gone. */
  end(): Promise<void>;
}

const SCRIPT = fileURLToPath(new URL('./accept-child.js', import.meta.url));

/** Starts a process that has the store open; `prefix` is a program that runs it (a tracer). */
export async function startChild(t: TestContext, path: string, prefix: readonly string[] = []): Promise<Child> {
  const [program = process.execPath, ...args] = [...prefix, process.execPath, SCRIPT, path];
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, 'exit');

  async function next(): Promise<unknown> {
    const { value, done } = await lines.next();
    assert(!done, 'the child process ended without an answer');
    return JSON.parse(value);
  }

  assert.deepEqual(await next(), { ready: true });
  return {
    async send(command) {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      return (await next()) as readonly ChildAnswer[];
    },
    async end() {
      child.stdin.end();
      const [code] = await exited;
      assert.equal(code, 0);
    },
  };
}
