/*
 * What somebody meant who misspelt a name: of a setting, of a field, of a command.
 */

export interface Near {
  /** Empty when there are no candidates. */
  readonly candidate: string;
  /** In edits: characters that are put in, left out or replaced. */
  readonly distance: number;
}

/** One that goes on where the name ends (`A2A_WAIT`, `A2A_WAIT_MS`) is taken before one that is written more alike. */
export function nearestName(name: string, candidates: readonly string[]): Near {
  const longer = candidates.filter((candidate) => candidate.startsWith(`${name}_`));
  let best: Near = { candidate: '', distance: Number.POSITIVE_INFINITY };
  for (const candidate of longer.length > 0 ? longer : candidates) {
    const distance = editDistance(name, candidate);
    if (distance < best.distance) best = { candidate, distance };
  }
  return best;
}

/** Levenshtein's, one row of the matrix at a time. Names are a few dozen characters. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let line = 1; line <= a.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= b.length; column += 1) {
      const substitute = (row[column - 1] ?? 0) + (a[line - 1] === b[column - 1] ? 0 : 1);
      next.push(Math.min(substitute, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
