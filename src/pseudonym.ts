import { hash } from 'node:crypto';

const pseudonyms = new Map<string, string>();
const PSEUDONYMS_MAX = 1_000;

/**
 * A person as logs and traces show them. Account ids are personal data: lines of one person can be told to belong
 * together, not whose they are. Core hashes already.
 */
export function pseudonymOf(value: string): string {
  const before = pseudonyms.get(value);
  if (before !== undefined) return before;
  const made = /^[0-9a-f]{12}$/.test(value) ? value : hash('sha256', value).slice(0, 12);
  // A person has several lines to each call, and the same people call again.
  if (pseudonyms.size >= PSEUDONYMS_MAX) pseudonyms.clear();
  pseudonyms.set(value, made);
  return made;
}
