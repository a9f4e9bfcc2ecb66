// `npm start`: builds when dist/ is missing or older than a source, then runs the service in this very process, so that
// signals and the exit code need no passing on. Plain JavaScript because it has to run before there is a build.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Is there a TypeScript project of the service whose sources are newer than its build? */
export function isStale(root) {
  if (!existsSync(join(root, 'dist/src/main.js'))) return true;
  return projects(root).some((project) => newest(join(root, project)) > builtAt(join(root, 'dist', project)));
}

function projects(root) {
  const adapters = join(root, 'adapters');
  const names = existsSync(adapters) ? readdirSync(adapters).map((name) => join('adapters', name)) : [];
  return ['core', ...names, 'src'].filter((project) => existsSync(join(root, project, 'tsconfig.json')));
}

function newest(folder) {
  const sources = readdirSync(folder, { recursive: true }).filter((name) => /\.ts$|tsconfig\.json$/.test(String(name)));
  return Math.max(0, ...sources.map((name) => statSync(join(folder, String(name))).mtimeMs));
}

// The compiler touches this file whenever it has looked at the project, also when nothing had to be written.
function builtAt(folder) {
  const stamp = join(folder, '.tsbuildinfo');
  return existsSync(stamp) ? statSync(stamp).mtimeMs : 0;
}

function build(root) {
  let compiler;
  try {
    compiler = join(createRequire(join(root, 'package.json')).resolve('typescript/package.json'), '../bin/tsc');
  } catch {
    console.error('The service has to be built, and the compiler is not installed. Run: npm ci && npm run build');
    return 1;
  }
  console.error('building …');
  return spawnSync(process.execPath, [compiler, '-b', 'src'], { cwd: root, stdio: ['ignore', 2, 2] }).status ?? 1;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const status = isStale(root) ? build(root) : 0;
  if (status !== 0) process.exit(status);
  process.setSourceMapsEnabled(true);
  await import(new URL('../dist/src/main.js', import.meta.url).href);
}
