import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/*
 * npm run test:interop [-- --record] [language …]   only the clients of these languages
 * --record writes the results of a run of all clients into docs/conformance.md.
 * The tests are no *.test.js, so that `npm test` leaves them out; node:test runs a file that is named to it.
 */

const languages = process.argv.slice(2).filter((word) => word !== '--record');
const record = languages.length < process.argv.length - 2 ? { INTEROP_RECORD: 'yes' } : {};
const file = fileURLToPath(new URL('./interop.js', import.meta.url));
const run = spawnSync(process.execPath, ['--enable-source-maps', '--test', '--test-reporter=spec', file], {
  stdio: 'inherit',
  env: { ...process.env, INTEROP_LANGUAGES: languages.join(',').toLowerCase(), ...record },
});
process.exit(run.status ?? 1);
