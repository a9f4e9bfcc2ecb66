import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempDir } from '../support/temp-dir.ts';
import { lastWords, runCommand } from './command.ts';
import { build, complete, install, lacks } from './installation.ts';

const node = (script: string): readonly string[] => [process.execPath, '-e', script];

test('toolchain: one that is not there is named as the reason, and no error', async () => {
  assert.equal(await lacks(['no-such-toolchain', '--version']), 'no-such-toolchain is not on this machine');
  assert.equal(await lacks([process.execPath, '--version']), undefined);
});

test('packages: what the installer said last is the reason, without addresses', async () => {
  const said = `console.error('ERROR: no matching version at https://registry.example/x'); process.exit(1)`;
  assert.equal(await install(node(said)), 'its packages cannot be had: ERROR: no matching version at …');
  assert.equal(await install(node('')), undefined);
});

test('command: one that hangs is killed at its limit, and that is the reason', async () => {
  const hung = await runCommand(node('setInterval(() => {}, 1_000)'), { limitMs: 200 });
  assert.deepEqual([hung.late, lastWords(hung)], [true, 'it took too long']);
  assert.notEqual(hung.code, 0);
});

test('build: a program of ours that does not compile is an error, not a reason to skip', async () => {
  await assert.rejects(build(node(`console.error('line 3: no'); process.exit(2)`)), /line 3: no/);
});

test('installation: of two that are ready at the same time the first one stays', (t) => {
  const folder = join(tempDir(t), 'packages');
  for (const name of ['first', 'second']) {
    const draft = `${folder}.${name}`;
    mkdirSync(draft);
    writeFileSync(join(draft, name), '');
    complete(draft, folder);
  }
  assert.deepEqual(readdirSync(folder), ['first']);
  assert.deepEqual(readdirSync(join(folder, '..')), ['packages']);
});
