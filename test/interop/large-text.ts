import { createHash } from 'node:crypto';

/*
 * 300,000 UTF-16 units that a careless line splitter, escaper or cutter spoils: line separators that only some languages
 * know, quotes, control characters and surrogate pairs.
 */

const PATTERN = Array.from(
  'plain "quoted" \\ tab\t line\u2028sep par\u2029sep next\u0085line \u0001 é 漢字 😀👩‍🚀 data: id: \r\n',
);
const CHUNK_UNITS = 500;
const UNITS = 300_000;

/** About 600 pieces, cut between code points. */
export function largeChunks(): readonly string[] {
  const chunks: string[] = [];
  let chunk = '';
  let units = 0;
  for (let index = 0; units < UNITS; index += 1) {
    const next = PATTERN[index % PATTERN.length] ?? '';
    chunk += next;
    units += next.length;
    if (chunk.length >= CHUNK_UNITS) {
      chunks.push(chunk);
      chunk = '';
    }
  }
  if (chunk !== '') chunks.push(chunk);
  return chunks;
}

/** What a client that has put the artifact together again must come to. */
export interface Fingerprint {
  readonly utf8Bytes: number;
  /** Lower case hex of the UTF-8 bytes. */
  readonly sha256: string;
}

export function largeFingerprint(): Fingerprint {
  const bytes = Buffer.from(largeChunks().join(''), 'utf8');
  return { utf8Bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}
