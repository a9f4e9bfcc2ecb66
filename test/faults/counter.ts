import { existsSync, readFileSync } from 'node:fs';

export interface Counted {
  /** How often the agent was started. */
  readonly runs: number;
  /** Idempotency keys of the effects that happened, in order. */
  readonly effects: readonly string[];
}

/** What the agent did outside of the service, by the file that it counts in. */
export function counted(file: string, taskId?: string): Counted {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const acts = lines.map((line) => line.split(' ')).filter(([id]) => taskId === undefined || id === taskId);
  return {
    runs: acts.filter(([, , what]) => what === 'run').length,
    effects: acts.flatMap(([, , what, key = '']) => (what === 'effect' ? [key] : [])),
  };
}
