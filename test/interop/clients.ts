import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastWords, runCommand } from './command.ts';

/*
 * How each client program is made ready. Packages are installed unmodified from their registries, in the versions that
 * the files beside the programs pin, into a cache that no commit sees. What is missing on this machine (a toolchain, a
 * package) is `unavailable`, with the reason; a program of ours that does not compile is an error.
 */

export type Prepared = { readonly command: readonly string[] } | { readonly unavailable: string };

export interface InteropClient {
  readonly language: string;
  prepare(): Promise<Prepared>;
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SOURCES = join(ROOT, 'test', 'interop');
const CACHE = join(ROOT, 'node_modules', '.cache', 'interop');
const INSTALL_MS = 600_000;
const BUILD_MS = 300_000;
const LOOK_MS = 30_000;

function cacheFor(language: string, lockFile: string): string {
  const digest = createHash('sha256')
    .update(readFileSync(join(SOURCES, lockFile)))
    .digest('hex');
  return join(CACHE, `${language}-${digest.slice(0, 12)}`);
}

/** The reason why a toolchain cannot be used, or undefined. */
async function lacks(command: readonly string[]): Promise<string | undefined> {
  const { code } = await runCommand(command, { limitMs: LOOK_MS });
  return code === 0 ? undefined : `${command[0]} is not on this machine`;
}

async function build(command: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
  const result = await runCommand(command, { ...options, limitMs: BUILD_MS });
  if (result.code !== 0) throw new Error(`${command.join(' ')}\n${result.stdout}\n${result.stderr}`);
}

/** The interpreter of an environment in which exactly the packages of that file are installed. */
export async function pythonWith(name: string, requirementsFile: string): Promise<Prepared> {
  const missing = await lacks(['python3', '-c', 'import venv, ensurepip']);
  if (missing !== undefined) return { unavailable: missing };
  const folder = cacheFor(name, requirementsFile);
  const python = (inside: string): string => join(inside, 'bin', 'python');
  if (!existsSync(folder)) {
    // Made beside it and moved when complete: an installation that broke off is not taken for one. A virtual
    // environment keeps working after the move as long as its interpreter is called by path.
    const draft = `${folder}.draft`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(CACHE, { recursive: true });
    await build(['python3', '-m', 'venv', draft]);
    const requirements = join(SOURCES, requirementsFile);
    const install = [python(draft), '-m', 'pip', 'install', '--quiet', '--no-deps', '-r', requirements];
    const installed = await runCommand(install, { limitMs: INSTALL_MS });
    if (installed.code !== 0) return { unavailable: `its packages cannot be installed: ${lastWords(installed)}` };
    renameSync(draft, folder);
  }
  return { command: [python(folder)] };
}

async function preparePython(): Promise<Prepared> {
  const python = await pythonWith('python', 'python/requirements.txt');
  if ('unavailable' in python) return python;
  return { command: [...python.command, '-B', join(SOURCES, 'python', 'main.py')] };
}

async function prepareJava(): Promise<Prepared> {
  const missing = (await lacks(['javac', '-version'])) ?? (await lacks(['mvn', '-version']));
  if (missing !== undefined) return { unavailable: missing };
  const folder = cacheFor('java', 'java/pom.xml');
  const [libraries, classes] = [join(folder, 'lib'), join(folder, 'classes')];
  const pom = join(SOURCES, 'java', 'pom.xml');
  if (!existsSync(libraries)) {
    const draft = join(folder, 'lib.draft');
    rmSync(draft, { recursive: true, force: true });
    const fetchThem = ['mvn', '-B', '-q', '-f', pom, `-Dinterop.libraries=${draft}`, 'dependency:copy-dependencies'];
    const fetched = await runCommand(fetchThem, { limitMs: INSTALL_MS });
    if (fetched.code !== 0) return { unavailable: `its packages cannot be had: ${lastWords(fetched)}` };
    renameSync(draft, libraries);
  }
  const sources = join(SOURCES, 'java', 'src', 'interop');
  const files = readdirSync(sources).map((name) => join(sources, name));
  await build(['javac', '--release', '17', '-d', classes, '-cp', join(libraries, '*'), ...files]);
  return { command: ['java', '-cp', [classes, join(libraries, '*')].join(delimiter), 'interop.Main'] };
}

async function prepareGo(): Promise<Prepared> {
  const missing = await lacks(['go', 'version']);
  if (missing !== undefined) return { unavailable: missing };
  const program = join(cacheFor('go', 'go/go.sum'), 'interop');
  const where = { cwd: join(SOURCES, 'go'), env: { GOTOOLCHAIN: 'local', GOFLAGS: '-mod=readonly' } };
  const fetched = await runCommand(['go', 'mod', 'download'], { ...where, limitMs: INSTALL_MS });
  if (fetched.code !== 0) return { unavailable: `its modules cannot be had: ${lastWords(fetched)}` };
  await build(['go', 'build', '-o', program, '.'], where);
  return { command: [program] };
}

async function prepareJavaScript(): Promise<Prepared> {
  return { command: [process.execPath, fileURLToPath(new URL('./js/main.js', import.meta.url))] };
}

export const CLIENTS: readonly InteropClient[] = [
  { language: 'JavaScript', prepare: prepareJavaScript },
  { language: 'Python', prepare: preparePython },
  { language: 'Go', prepare: prepareGo },
  { language: 'Java', prepare: prepareJava },
];
