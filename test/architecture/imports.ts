export interface Import {
  readonly specifier: string;
  /** The text of the whole statement. */
  readonly clause: string;
  /** Local names that are values: none for `import type`, for a side effect and for a re-export. */
  readonly names: readonly string[];
}

// Statements begin a line here: the formatter sees to it. So texts and comments that speak of imports do not count.
const STATEMENT = /^(?:import|export)\s+(?:(type)\s+)?([^'";]*?)\s*from\s*['"]([^'"]+)['"];?/gm;
const SIDE_EFFECT = /^import\s*['"]([^'"]+)['"];?/gm;
const DYNAMIC = /\b(?:import|require)\(\s*['"]([^'"]+)['"]\s*\)/g;

export function importsOf(text: string): readonly Import[] {
  const found: Import[] = [];
  for (const [clause, typeOnly, names = '', specifier = ''] of text.matchAll(STATEMENT)) {
    const values = typeOnly === undefined && clause.startsWith('import') ? valueNames(names) : [];
    found.push({ specifier, clause, names: values });
  }
  for (const [clause, specifier = ''] of text.matchAll(SIDE_EFFECT)) found.push({ specifier, clause, names: [] });
  for (const [clause, specifier = ''] of text.matchAll(DYNAMIC)) found.push({ specifier, clause, names: [] });
  return found;
}

/** `a, { b, type C, d as e }` and `* as f` to a, b, e and f. */
function valueNames(clause: string): string[] {
  return clause
    .replace(/[{}]/g, ',')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && !part.startsWith('type '))
    .map((part) => part.split(/\s+as\s+/).at(-1) ?? part);
}
