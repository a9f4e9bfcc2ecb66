import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempDir } from '../support/temp-dir.ts';

const MAIN = fileURLToPath(new URL('../../bench/main.js', import.meta.url));

function bench(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  return { status, stdout, lines: stderr.trimEnd().split('\n') };
}

const WRONG: readonly (readonly [args: readonly string[], said: RegExp])[] = [
  [['--at', 'x'], /^--at is a list of whole numbers from 1 on, not "x"$/],
  [['--at', '1,,2'], /^--at is a list/],
  [['--rounds', '0'], /^--rounds is a whole number from 1 on, not "0"$/],
  [['--rounds', '1.5'], /^--rounds is/],
  [['--seconds', 'abc'], /^--seconds is a number above 0, not "abc"$/],
  [['--seconds', '0'], /^--seconds is/],
  [['--against', '/nowhere/at/all.json'], /^--against \S+: it cannot be read \(ENOENT\)$/],
  [['--save', '/nowhere/at/all.json'], /^--save \S+: it cannot be written \(ENOENT\)$/],
  [['--speed'], /^Unknown option '--speed'$/],
  [['nothing'], /^there is no scenario nothing$/],
];
for (const [args, said] of WRONG) {
  test(`bench: ${args.join(' ')} ends with 64, one line and the usage, and measures nothing`, () => {
    const { status, stdout, lines } = bench(...args);
    assert.equal(status, 64);
    assert.match(lines[0] ?? '', said);
    assert.match(lines[1] ?? '', /^npm run bench -- /);
    assert.equal(stdout, '');
  });
}

test('bench: a file that is none of --save is refused', (t) => {
  const file = join(tempDir(t), 'other.json');
  for (const text of ['[]', '{"send":{"rate":"fast"}}', 'no JSON']) {
    writeFileSync(file, text);
    const { status, lines } = bench('--against', file);
    assert.deepEqual([status, lines[0]], [64, `--against ${file}: these are no figures that --save wrote`]);
  }
});

test('bench: --help prints the usage', () => {
  const { status, stdout } = bench('--help');
  assert.equal(status, 0);
  assert.match(stdout, /^npm run bench -- [\s\S]*names: send, /);
});
