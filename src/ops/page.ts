import type { Shown } from './command.ts';

export const LIMIT_DEFAULT = 50;
export const LIMIT_MAX = 10_000;

/** A list that was asked for one more than is shown. */
export function page<T>(
  found: readonly T[],
  limit: number,
  { text, json }: { readonly text: (shown: readonly T[]) => string; readonly json: (entry: T) => unknown },
): Shown {
  const shown = found.slice(0, limit);
  return {
    text: text(shown),
    json: shown.map(json),
    ...(found.length > limit ? { note: `There are more than these ${limit}: ask for them with --limit.\n` } : {}),
  };
}
