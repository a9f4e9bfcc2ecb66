import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const HELPER = fileURLToPath(new URL('../../../src/build-if-stale.mjs', import.meta.url));
const OLD = new Date('2020-01-01T00:00:00Z');
const NEW = new Date('2020-01-02T00:00:00Z');

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'start-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, text: string, at: Date): void {
  const file = join(root, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
  utimesSync(file, at, at);
}

/** A small copy of the layout, built, with a service that says what happens to it. */
function built(main: string): void {
  cpSync(HELPER, join(root, 'src/build-if-stale.mjs'));
  put('package.json', '{"type":"module"}', OLD);
  for (const project of ['core', 'adapters/jira', 'src']) {
    put(`${project}/tsconfig.json`, '{}', OLD);
    put(`${project}/inner/a.ts`, '', OLD);
    put(`dist/${project}/.tsbuildinfo`, '', NEW);
  }
  put('dist/src/main.js', main, NEW);
}

async function stale(): Promise<boolean> {
  const { isStale } = (await import(HELPER)) as { isStale(folder: string): boolean };
  return isStale(root);
}

describe('isStale', () => {
  test('start: a build newer than every source is used as it is', async () => {
    built('');
    assert.equal(await stale(), false);
  });

  test('start: a missing build is stale', async () => {
    built('');
    rmSync(join(root, 'dist'), { recursive: true });
    assert.equal(await stale(), true);
  });

  for (const source of ['core/inner/a.ts', 'adapters/jira/inner/a.ts', 'src/inner/a.ts', 'src/tsconfig.json']) {
    test(`start: a build older than ${source} is stale`, async () => {
      built('');
      put(source, '', new Date('2020-01-03T00:00:00Z'));
      assert.equal(await stale(), true);
    });
  }

  test('start: an installation without sources is not stale', async () => {
    put('dist/src/main.js', '', OLD);
    assert.equal(await stale(), false);
  });
});

describe('npm start', () => {
  test('start: the service runs in this very process, so signals and exit codes are its own', {
    timeout: 20_000,
  }, async () => {
    built(
      `process.on('SIGTERM', () => process.exit(42));\nconsole.log('ready', process.pid);\nsetInterval(() => {}, 1000);`,
    );
    const child = spawn(process.execPath, [join(root, 'src/build-if-stale.mjs')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    assert.equal(said.toString().trim(), `ready ${child.pid}`);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    assert.deepEqual(await ended, [42, null]);
  });

  test('start: a SIGTERM that npm gets reaches the service, and npm ends with its code', {
    timeout: 30_000,
  }, async () => {
    built(`process.on('SIGTERM', () => process.exit(42));\nconsole.log('ready');\nsetInterval(() => {}, 1000);`);
    const { scripts } = JSON.parse(readFileSync(join(HELPER, '../../package.json'), 'utf8'));
    put('package.json', JSON.stringify({ type: 'module', scripts: { start: scripts.start } }), OLD);
    const npm = spawn('npm', ['start', '--silent'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(npm, 'exit');
    await once(npm.stdout, 'data');
    npm.kill('SIGTERM');
    assert.deepEqual(await ended, [42, null]);
  });

  test('start: without a compiler the missing build is explained', () => {
    built('');
    rmSync(join(root, 'dist'), { recursive: true });
    const run = spawnSync(process.execPath, [join(root, 'src/build-if-stale.mjs')], { encoding: 'utf8' });
    assert.equal(run.status, 1);
    assert.match(run.stderr, /npm ci && npm run build/);
  });
});
