import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createLogLines } from '../../src/log-lines.ts';

/** Takes nothing: every write says that there is no space left. */
const FULL = '/dev/full';
const TELEMETRY = new URL('../../src/telemetry.js', import.meta.url).href;

function linesOver(): { readonly lines: ReturnType<typeof createLogLines>; readonly writes: string[]; end(): void } {
  const writes: string[] = [];
  const exits: (() => void)[] = [];
  const ending = { on: (_: string, listener: () => void) => exits.push(listener) } as unknown as NodeJS.Process;
  const lines = createLogLines({ write: (text) => void writes.push(text) }, ending);
  return {
    lines,
    writes,
    end: () => {
      for (const listener of exits) listener();
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function turns(): Promise<void> {
  await turn();
  await turn();
}

/** A process that logs and then ends in that way; what its standard output got. */
function outputOf(end: string): readonly string[] {
  const script = `
    import { createTelemetry } from ${JSON.stringify(TELEMETRY)};
    const telemetry = createTelemetry({ level: 'info' });
    telemetry.event('info', 'first');
    telemetry.event('info', 'second');
    ${end}`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { readonly event: string }).event);
}

describe('log lines', () => {
  test('log lines: those of two turns of the event loop are one write, in their order', async () => {
    const { lines, writes } = linesOver();
    lines.write('a\n');
    await turn();
    lines.write('b\n');
    assert.deepEqual(writes, []);
    await turn();
    lines.write('c\n');
    await turns();
    assert.deepEqual(writes, ['a\nb\n', 'c\n']);
  });

  test('log lines: a line that may wait is made behind what the next turn begins with, in its place', async () => {
    const { lines, writes } = linesOver();
    const made: string[] = [];
    const defer = (name: string) =>
      lines.defer(() => {
        made.push(name);
        lines.write(`${name}\n`);
      });
    defer('a');
    setImmediate(() => made.push('what others wait for'));
    await turns();
    assert.deepEqual(made, ['what others wait for', 'a']);
    defer('b');
    lines.write('c\n');
    defer('d');
    await turns();
    assert.deepEqual(writes, ['a\n', 'b\nc\nd\n']);
  });

  test('log lines: many that may wait are made before the turn ends', () => {
    const { lines } = linesOver();
    let made = 0;
    const line = (): void => {
      made += 1;
    };
    for (let index = 0; index < 2_500; index += 1) lines.defer(line);
    assert.equal(made, 2_000);
  });

  test('log lines: many of them do not wait for the end of the turn', () => {
    const { lines, writes } = linesOver();
    const line = `${'x'.repeat(1_000)}\n`;
    for (let index = 0; index < 40; index += 1) lines.write(line);
    assert.deepEqual(
      writes.map((text) => text.length),
      [17 * 1_001, 17 * 1_001],
    );
  });

  test('log lines: what waits is written before the process ends', () => {
    const { lines, writes, end } = linesOver();
    lines.defer(() => lines.write('a\n'));
    lines.write('b\n');
    lines.defer(() => lines.write('c\n'));
    end();
    assert.deepEqual(writes, ['a\nb\nc\n']);
  });

  for (const [how, end] of [
    ['exits', 'process.exit(3);'],
    ['throws', "throw new Error('out of here');"],
    ['has nothing left to do', ''],
  ] as const) {
    test(`log lines: a process that ${how} in the turn of its last lines has written them`, () => {
      assert.deepEqual(outputOf(end), ['first', 'second']);
    });
  }

  test('log lines: an error is on its way at once, whatever becomes of the process', () => {
    const killed = "telemetry.event('error', 'third'); process.kill(process.pid, 'SIGKILL'); while (true);";
    assert.deepEqual(outputOf(killed), ['first', 'second', 'third']);
  });

  test('log lines: a standard output on a full disk stops neither who logs nor the process, and little of it is kept', {
    skip: existsSync(FULL) ? false : `there is no ${FULL}`,
  }, () => {
    const script = `
      import { createTelemetry } from ${JSON.stringify(TELEMETRY)};
      const telemetry = createTelemetry({ level: 'info' });
      const log = (times) => {
        for (let n = 0; n < times; n += 1) telemetry.event('info', 'lost', { reason: 'x'.repeat(300) });
      };
      telemetry.event('error', 'first');
      log(10_000);
      gc();
      const before = process.memoryUsage().heapUsed;
      log(100_000);
      setImmediate(() => {
        gc();
        process.stderr.write(String(process.memoryUsage().heapUsed - before));
      });`;
    const full = openSync(FULL, 'w');
    const args = ['--expose-gc', '--input-type=module', '--eval', script];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    assert.equal(status, 0, stderr);
    assert.match(stderr, /^-?\d+$/);
    assert.ok(Number(stderr) < 8_000_000, `${stderr} bytes more than before`);
  });
});
