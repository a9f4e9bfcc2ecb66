import { createHash } from 'node:crypto';

/** A person as logs and traces show them. */
interface Pseudonym {
  readonly text: string;
  /** As it stands in a line of the log. */
  readonly quoted: string;
}

const pseudonyms = new Map<string, Pseudonym>();
const PSEUDONYMS_MAX = 1_000;

/** Account ids are personal data: lines of one person can be told to belong together, not whose they are. Core hashes already. */
export function pseudonymOf(value: string): Pseudonym {
  const before = pseudonyms.get(value);
  if (before !== undefined) return before;
  const text = /^[0-9a-f]{12}$/.test(value) ? value : createHash('sha256').update(value).digest('hex').slice(0, 12);
  const made = { text, quoted: `"${text}"` };
  // A person has several lines to each call, and the same people call again.
  if (pseudonyms.size >= PSEUDONYMS_MAX) pseudonyms.clear();
  pseudonyms.set(value, made);
  return made;
}
