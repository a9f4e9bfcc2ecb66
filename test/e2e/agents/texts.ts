/*
 * Texts that an agent writes and a test expects, made from a name and a length so that both sides have them without
 * sending them to each other.
 */
const UNITS = {
  plain: 'The basket keeps the old total. ',
  /** Six characters each in JSON, and pairs that no cut may separate. */
  nasty: '\u0001\u001f🏮"\\é👩‍🚀\u2028\u0085\n',
} as const;
export type TextKind = keyof typeof UNITS;

/** A text of at least `length` UTF-16 units that ends with a whole unit. */
export function textOf(kind: TextKind, length: number): string {
  const unit = UNITS[kind];
  return unit.repeat(Math.ceil(length / unit.length));
}

/** The text of one of many chunks: numbered, so that a lost, doubled or swapped one shows. */
export function chunkOf(index: number, size: number): string {
  return `[${index}]`.padEnd(size, '.');
}

export function chunksOf(count: number, size: number): string {
  return Array.from({ length: count }, (_, index) => chunkOf(index, size)).join('');
}
