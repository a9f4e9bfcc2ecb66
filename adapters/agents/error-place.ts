import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CHECK_TIMEOUT_MS = 5_000;
const PLACE = /(?<=^|[ (])(file:\/\/\/[^\s():]+|\/[^\n():]+):(\d+)(?::\d+)?\)?$/m;
/** The frames from here on are those of the program that loads. */
const LOADER = /\/agents\/module-loader\.[jt]s$/;

function placeIn(text: string): string | undefined {
  const [, where = '', line] = PLACE.exec(text) ?? [];
  if (where === '') return undefined;
  const file = where.startsWith('file:') ? fileURLToPath(where) : where;
  return LOADER.test(file) ? undefined : `${file}:${line}`;
}

/**
 * `file:line` of the code that an error comes from, undefined when nobody can tell. A stack names it unless the file
 * did not even parse: then Node tells only on standard error, so that a second one is asked, which runs nothing.
 * `file` is what was imported, when it is a file.
 */
export function placeOf(error: unknown, file?: string): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const inStack = placeIn(error.stack ?? '');
  if (inStack !== undefined || !(error instanceof SyntaxError) || file === undefined) return inStack;
  const check = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: CHECK_TIMEOUT_MS });
  if (check.status === 0) return `in a module that ${file} imports`;
  return placeIn(check.stderr ?? '');
}
