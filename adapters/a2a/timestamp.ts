const ISO_8601 = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:[.,](\d{1,9}))?(Z|[+-]\d{2}(?::?\d{2})?)$/i;

/**
 * Epoch milliseconds of an ISO 8601 timestamp with any offset, or undefined when it is none. Finer digits round up, so
 * that "not before" stays true of what is answered.
 */
export function timestampMs(text: string): number | undefined {
  const [, seconds, fraction = '', offset] = ISO_8601.exec(text) ?? [];
  if (seconds === undefined || offset === undefined) return undefined;
  const base = Date.parse(`${seconds.toUpperCase()}${zone(offset)}`);
  return Number.isNaN(base) ? undefined : base + Math.ceil(Number(`0.${fraction || '0'}`) * 1_000 - 1e-9);
}

function zone(offset: string): string {
  const digits = offset.replace(':', '');
  return digits.length === 1 ? 'Z' : `${digits.slice(0, 3)}:${digits.slice(3) || '00'}`;
}
