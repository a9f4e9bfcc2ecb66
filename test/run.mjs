// Runs the compiled tests with node:test. Node 20 takes no globs and Node 22 no folders, so the files are named.
// Usage: node test/run.mjs [filter …]   only files whose path contains one of the filters
// Without a filter everything but test/faults, which kills processes for minutes: npm run test:faults.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const filters = process.argv.slice(2);
const wanted = (name) =>
  filters.length === 0 ? !name.includes('test/faults/') : filters.some((filter) => name.includes(filter));
const files = readdirSync('dist/test', { recursive: true })
  .map((name) => join('dist/test', String(name)))
  .filter((name) => name.endsWith('.test.js') && wanted(name))
  .sort();
if (files.length === 0) {
  console.error('no test file matches');
  process.exit(1);
}
// A test that hangs fails by name instead of holding everything up.
const limits = ['--test-timeout=300000', '--test-concurrency=2'];
const run = spawnSync(
  process.execPath,
  ['--enable-source-maps', '--test', '--test-reporter=spec', ...limits, ...files],
  {
    stdio: 'inherit',
  },
);
process.exit(run.status ?? 1);
