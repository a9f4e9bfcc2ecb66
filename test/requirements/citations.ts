import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A test that says at the end of its name what it proves. */
export interface Citation {
  readonly file: string;
  readonly title: string;
  readonly ids: readonly string[];
  /** It is skipped or a plan, and proves nothing. */
  readonly idle: boolean;
}

const TITLE = /'((?:\\.|[^'\\\n])*)'|`((?:\\.|[^`\\])*)`/.source;
const TEST = new RegExp(String.raw`^[ \t]*(?:test|it)(\.\w+)?\(\s*(?:${TITLE})\s*,\s*(\{[^}]*\})?`, 'gm');
/** Ids begin with a section: a bracket that holds anything else is part of a name. */
const CITED = / \[((?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)+)-[^\]]*)\]$/;

/** What stands in a comment begins no line with `test(`. */
export function citationsIn(file: string, source: string): readonly Citation[] {
  return [...source.matchAll(TEST)].flatMap(([, kind, plain, template, options = '']) => {
    const title = plain ?? template ?? '';
    const cited = CITED.exec(title)?.[1];
    if (cited === undefined) return [];
    const idle = (kind !== undefined && kind !== '.only') || /\b(?:skip|todo)\b/.test(options);
    return [{ file, title, ids: cited.split(', '), idle }];
  });
}

/** Of every test that `npm test` runs: contract suites are called by the tests of each store. */
export function citationsBelow(folder: string): readonly Citation[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => String(name).replaceAll('\\', '/'))
    .filter((name) => /(?:\.test|-contract)\.ts$/.test(name) && !name.startsWith('faults/'))
    .sort()
    .flatMap((name) => citationsIn(name, readFileSync(join(folder, name), 'utf8')));
}
