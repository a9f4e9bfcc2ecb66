import type { TurnEntry } from '../../core/ports/operator-store.ts';
import { time } from './table.ts';

/** What becomes of an open turn. */
export function doing({ held, leasedUntil, worker = 'a process' }: TurnEntry): string {
  if (leasedUntil !== undefined) return `leased to ${worker} until ${time(leasedUntil)}`;
  return held ? 'held back: its tenant is paused' : 'waits';
}
