import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  build,
  cacheFor,
  complete,
  draftOf,
  install,
  lacks,
  npmWith,
  type Prepared,
  pythonWith,
  SOURCES,
} from './installation.ts';
import type { Route } from './scenarios.ts';

/*
 * The clients, how each program is made ready, and which ways it has to the service. The clients are unmodified and of
 * the versions that the files beside the programs pin.
 */

export interface InteropClient {
  readonly language: string;
  readonly routes: readonly Route[];
  prepare(): Promise<Prepared>;
}

async function preparePython(): Promise<Prepared> {
  const python = await pythonWith('python', 'python/requirements.txt');
  if ('unavailable' in python) return python;
  return { command: [...python.command, '-B', join(SOURCES, 'python', 'main.py')] };
}

async function prepareLegacyPython(): Promise<Prepared> {
  const python = await pythonWith('legacy-python', 'legacy-python/requirements.txt');
  if ('unavailable' in python) return python;
  return { command: [...python.command, '-B', join(SOURCES, 'legacy-python', 'main.py')] };
}

async function prepareJava(): Promise<Prepared> {
  const missing = (await lacks(['javac', '-version'])) ?? (await lacks(['mvn', '-version']));
  if (missing !== undefined) return { unavailable: missing };
  const folder = cacheFor('java', 'java/pom.xml');
  const [libraries, classes] = [join(folder, 'lib'), join(folder, 'classes')];
  const pom = join(SOURCES, 'java', 'pom.xml');
  if (!existsSync(libraries)) {
    const draft = draftOf(libraries);
    const fetchThem = ['mvn', '-B', '-q', '-f', pom, `-Dinterop.libraries=${draft}`, 'dependency:copy-dependencies'];
    const missingToo = await install(fetchThem);
    if (missingToo !== undefined) return { unavailable: missingToo };
    complete(draft, libraries);
  }
  const sources = join(SOURCES, 'java', 'src', 'interop');
  const files = readdirSync(sources).map((name) => join(sources, name));
  const slow = await build(['javac', '--release', '17', '-d', classes, '-cp', join(libraries, '*'), ...files]);
  if (slow !== undefined) return { unavailable: slow };
  return { command: ['java', '-cp', [classes, join(libraries, '*')].join(delimiter), 'interop.Main'] };
}

async function prepareGo(): Promise<Prepared> {
  const missing = await lacks(['go', 'version']);
  if (missing !== undefined) return { unavailable: missing };
  const program = join(cacheFor('go', 'go/go.sum'), 'interop');
  const where = { cwd: join(SOURCES, 'go'), env: { GOTOOLCHAIN: 'local', GOFLAGS: '-mod=readonly' } };
  const notReady =
    (await install(['go', 'mod', 'download'], where)) ?? (await build(['go', 'build', '-o', program, '.'], where));
  return notReady === undefined ? { command: [program] } : { unavailable: notReady };
}

async function prepareJavaScript(): Promise<Prepared> {
  return { command: [process.execPath, fileURLToPath(new URL('./js/main.js', import.meta.url))] };
}

async function prepareLegacyJavaScript(): Promise<Prepared> {
  return npmWith('legacy-js', ['package.json', 'main.mjs']);
}

const CURRENT: readonly Route[] = [
  { edge: 'a2a', binding: 'JSONRPC', protocol: '1.0' },
  { edge: 'a2a', binding: 'HTTP+JSON', protocol: '1.0' },
  { edge: 'a2a', binding: 'GRPC', protocol: '1.0' },
  { edge: 'rovo', binding: 'JSONRPC', protocol: '1.0' },
];
const LEGACY: readonly Route[] = [{ edge: 'a2a', binding: 'JSONRPC', protocol: '0.3' }];

export const CLIENTS: readonly InteropClient[] = [
  { language: 'JavaScript', routes: CURRENT, prepare: prepareJavaScript },
  { language: 'Python', routes: CURRENT, prepare: preparePython },
  { language: 'Go', routes: CURRENT, prepare: prepareGo },
  { language: 'Java', routes: CURRENT, prepare: prepareJava },
  { language: 'JavaScript 0.3', routes: LEGACY, prepare: prepareLegacyJavaScript },
  { language: 'Python 0.3', routes: LEGACY, prepare: prepareLegacyPython },
];
