import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lastWords, runCommand } from './command.ts';

/*
 * Packages of other people are installed from their registries into a folder that no commit sees, once for each content
 * of the file that pins them. Everything has a limit, because a registry that cannot be reached may also just hang. What
 * cannot be had here in that time is `unavailable`, with the reason; a program of ours that does not compile is an error.
 */

export type Prepared = { readonly command: readonly string[] } | { readonly unavailable: string };

interface Where {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly limitMs?: number;
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const SOURCES = join(ROOT, 'test', 'interop');
export const CACHE = join(ROOT, 'target', 'interop');
const INSTALL_MS = 100_000;
const BUILD_MS = 150_000;
const LOOK_MS = 20_000;

/** The folder for what is made of that file, below SOURCES. */
export function cacheFor(name: string, pinnedBy: string): string {
  const digest = createHash('sha256')
    .update(readFileSync(join(SOURCES, pinnedBy)))
    .digest('hex');
  mkdirSync(CACHE, { recursive: true });
  return join(CACHE, `${name}-${digest.slice(0, 12)}`);
}

/**
 * An empty place beside a folder, which becomes it when complete: an installation that broke off is not taken for
 * one, and two processes at the same time do not write into each other's.
 */
export function draftOf(folder: string): string {
  const draft = `${folder}.${process.pid}.draft`;
  rmSync(draft, { recursive: true, force: true });
  return draft;
}

/** Another process may have been faster: both have the same in it. */
export function complete(draft: string, folder: string): void {
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(draft, { recursive: true, force: true });
  }
}

/** The reason why a toolchain cannot be used, or undefined. */
export async function lacks(command: readonly string[]): Promise<string | undefined> {
  const { code, late } = await runCommand(command, { limitMs: LOOK_MS });
  if (late) return `${command[0]} does not answer`;
  return code === 0 ? undefined : `${command[0]} is not on this machine`;
}

/** The reason why packages cannot be had, or undefined. */
export async function install(command: readonly string[], where: Where = {}): Promise<string | undefined> {
  const result = await runCommand(command, { limitMs: INSTALL_MS, ...where });
  return result.code === 0 ? undefined : `its packages cannot be had: ${lastWords(result)}`;
}

/** Undefined, or that it took too long. Throws when it failed. */
export async function build(command: readonly string[], where: Where = {}): Promise<string | undefined> {
  const result = await runCommand(command, { limitMs: BUILD_MS, ...where });
  if (result.late) return `${command[0]} took longer than ${BUILD_MS / 1_000} s`;
  if (result.code !== 0) throw new Error(`${command.join(' ')}\n${result.stdout}\n${result.stderr}`);
  return undefined;
}

/** The interpreter of an environment in which exactly the packages of that file are installed. */
export async function pythonWith(
  name: string,
  requirementsFile: string,
  limits: { readonly limitMs?: number } = {},
): Promise<Prepared> {
  const missing = await lacks(['python3', '-c', 'import venv, ensurepip']);
  if (missing !== undefined) return { unavailable: missing };
  const folder = cacheFor(name, requirementsFile);
  const python = (inside: string): string => join(inside, 'bin', 'python');
  if (!existsSync(folder)) {
    // A virtual environment keeps working after the move as long as its interpreter is called by path.
    const draft = draftOf(folder);
    const requirements = join(SOURCES, requirementsFile);
    const pip = [python(draft), '-m', 'pip', 'install', '--quiet', '--no-deps', '--retries', '1', '--timeout', '20'];
    const notReady =
      (await build(['python3', '-m', 'venv', draft], limits)) ??
      (await install([...pip, '--disable-pip-version-check', '-r', requirements], limits));
    if (notReady !== undefined) return { unavailable: notReady };
    complete(draft, folder);
  }
  return { command: [python(folder)] };
}

/** The last of the files is a program that is run beside the packages that the first one, a package.json, names. */
export async function npmWith(
  name: string,
  [manifest, ...programs]: readonly [string, ...string[]],
): Promise<Prepared> {
  const folder = cacheFor(name, join(name, manifest));
  if (!existsSync(folder)) {
    const draft = draftOf(folder);
    mkdirSync(draft, { recursive: true });
    copyFileSync(join(SOURCES, name, manifest), join(draft, manifest));
    const quick = ['--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=1', '--fetch-timeout=20000'];
    const notReady = await install(['npm', 'install', '--silent', ...quick], { cwd: draft });
    if (notReady !== undefined) return { unavailable: notReady };
    complete(draft, folder);
  }
  for (const file of programs) copyFileSync(join(SOURCES, name, file), join(folder, basename(file)));
  return { command: [process.execPath, join(folder, programs.at(-1) ?? '')] };
}
