import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../command.ts';

const PROGRAM = fileURLToPath(new URL('./run.js', import.meta.url));

test('npm run test:itk: without a checkout of the kit it ends with 2 and says how to get one', async () => {
  for (const [args, wrong] of [
    [[], /^test:itk: --itk <checkout> is missing\. Get one: git clone /],
    [['--itk', './nowhere'], /^test:itk: there is no .*nowhere\. Get one: git clone /],
  ] as const) {
    const { code, stderr } = await runCommand([process.execPath, PROGRAM, ...args], { limitMs: 60_000 });
    assert.equal(code, 2);
    assert.match(stderr, wrong);
    assert.doesNotMatch(stderr, /\n\s+at /, 'no stack');
  }
});
