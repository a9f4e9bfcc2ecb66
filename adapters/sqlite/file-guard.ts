import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import type { StoreFault } from '../../core/errors.ts';

/*
 * SQLite goes on writing to files that somebody has deleted, replaced or cut off: every commit succeeds, and the next
 * start finds none of them. So the names are compared with what was opened before a group is begun, and again after its
 * commit, before anybody hears of it. Three looks at names take about 6 µs, the header of the log 2 µs more.
 *
 * Only the log is opened here. Closing any descriptor of the database or of `-shm` would drop SQLite's own locks on them.
 */

/** Of a write-ahead log: magic number first, two salts at byte 16 that are new whenever the log begins anew. */
const HEADER_BYTES = 32;
const MAGIC = /^377f068[23]/;
const SALTS = { from: 32, to: 48 };

export interface FileGuard {
  /** What is wrong with the files before something is written. May go away again. */
  before(): StoreFault | undefined;
  /** What was wrong with them when this commit was made: whether it will last is not known. */
  after(): StoreFault | undefined;
  close(): void;
}

/** For files that a connection has open, in WAL mode. */
export function guardFiles(path: string): FileGuard {
  const names = [path, `${path}-wal`, `${path}-shm`];
  const opened = names.map((name) => identity(statSync(name)));
  const log = openSync(`${path}-wal`, 'r');
  const buffer = Buffer.alloc(HEADER_BYTES);
  let size = 0;
  let salts = '';

  /** Salts of the log as it is now; undefined when it does not begin as one does. */
  function saltsNow(): string | undefined {
    const head = buffer.toString('hex', 0, readSync(log, buffer, 0, HEADER_BYTES, 0));
    return MAGIC.test(head) ? head.slice(SALTS.from, SALTS.to) : undefined;
  }

  /** Size of the log; undefined when one of the names shows another file, or none. */
  function look(): number | undefined {
    let bytes: number | undefined;
    for (const [index, name] of names.entries()) {
      const found = statSync(name, { throwIfNoEntry: false });
      if (!found || identity(found) !== opened[index]) return undefined;
      if (index === 1) bytes = found.size;
    }
    return bytes;
  }

  function remember(bytes: number, found: string): void {
    size = bytes;
    salts = found;
  }

  const found = saltsNow();
  if (found !== undefined) remember(look() ?? 0, found);

  return {
    before() {
      const bytes = look();
      if (bytes === undefined) return 'moved';
      // A checkpoint may cut the log back, but what comes next is another log then.
      return bytes < size && bytes > 0 && saltsNow() === salts ? 'damaged' : undefined;
    },
    after() {
      const bytes = look();
      if (bytes === undefined) return 'moved';
      const now = saltsNow();
      if (now !== undefined) remember(bytes, now);
      // A log that was emptied is written on where it ended, behind a hole. One that never was a log is left by such damage,
      // and the next thing that is written begins it anew.
      else if (bytes >= HEADER_BYTES && salts !== '') return 'damaged';
      return undefined;
    },
    close: () => closeSync(log),
  };
}

function identity({ dev, ino }: Stats): string {
  return `${dev} ${ino}`;
}
