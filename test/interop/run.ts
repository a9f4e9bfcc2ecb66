import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/*
 * npm run test:interop [language …]   only the clients of these languages
 * The tests are no *.test.js, so that `npm test` leaves them out; node:test runs a file that is named to it.
 */

const file = fileURLToPath(new URL('./interop.js', import.meta.url));
const run = spawnSync(process.execPath, ['--enable-source-maps', '--test', '--test-reporter=spec', file], {
  stdio: 'inherit',
  env: { ...process.env, INTEROP_LANGUAGES: process.argv.slice(2).join(',').toLowerCase() },
});
process.exit(run.status ?? 1);
