import { closeSync, fstatSync, openSync, readSync, realpathSync, type Stats, statSync } from 'node:fs';
import type { StoreFault } from '../../core/errors.ts';

/*
 * SQLite goes on writing to files that somebody has deleted, replaced or cut off: every commit succeeds, and the next
 * start finds none of them. So the names are compared with what was opened before a group is begun, and again after its
 * commit, before anybody hears of it. Three looks at names take about 6 µs, the header of the log 2 µs more.
 *
 * No lock is held meanwhile, so other programs may empty the log by a checkpoint or begin it anew between any two looks. What
 * is judged holds however they fall:
 * - A log is empty or begins with its header, at every moment. It gets its header with the first thing that is written.
 * - Who begins it anew or empties it gives it other salts. With the same salts before and after, it was one log meanwhile.
 * - One log does not get shorter. The only exception is the program that began it, which cuts what older ones left behind its
 *   end, down to its `journal_size_limit`, with its commit. So of a log that is new nothing counts but its committed
 *   frames; its size counts when the lock for writing was had since its salts were first seen; and nothing beyond the limit.
 *
 * Only the log is opened here. Closing any descriptor of the database or of `-shm` would drop SQLite's own locks on them.
 */

/** Of a write-ahead log: magic number first, size of its pages at byte 8, two salts at byte 16. */
const HEADER_BYTES = 32;
const MAGIC = /^377f068[23]/;
/** Before each page: at byte 4 not 0 where a commit ends, the salts of its log at byte 8. */
const FRAME_BYTES = 24;
/** A log that was begun by this commit rarely has more, and any part of it will do. */
const FRAMES_MAX = 200;

export interface FileGuard {
  /** What is wrong with the files before something is written. May go away again. */
  before(): StoreFault | undefined;
  /** What was wrong with them when this commit was made: whether it will last is not known. */
  after(): StoreFault | undefined;
  close(): void;
}

/** For files that a connection has open, in WAL mode; `limit` is its `journal_size_limit` in bytes. */
export function guardFiles(path: string, limit: number): FileGuard {
  // SQLite follows a link, and has its other files beside what it leads to.
  const file = realpathSync(path);
  const names = [path, `${file}-wal`, `${file}-shm`];
  const opened = names.map((name) => identity(statSync(name)));
  const log = openSync(`${file}-wal`, 'r');
  const buffer = Buffer.alloc(HEADER_BYTES);
  /** The log with these salts has at least so many bytes. */
  let size = 0;
  let salts = '';

  /** Of the log as it is now: its salts, `empty`, or that it does not begin as one does. */
  function header(): { readonly salts: string; readonly pageBytes: number } | 'empty' | 'none' {
    const bytes = readSync(log, buffer, 0, HEADER_BYTES, 0);
    if (bytes === 0) return 'empty';
    if (bytes < HEADER_BYTES || !MAGIC.test(buffer.toString('hex', 0, 4))) return 'none';
    return { salts: buffer.toString('hex', 16, 24), pageBytes: buffer.readUInt32BE(8) };
  }

  /** Where the last commit in the log ends, or an earlier one. */
  function committed(of: string, pageBytes: number): number {
    let end = 0;
    const bytesOf = FRAME_BYTES + pageBytes;
    for (let frame = 0; frame < FRAMES_MAX; frame += 1) {
      const from = HEADER_BYTES + frame * bytesOf;
      if (readSync(log, buffer, 0, FRAME_BYTES, from) < FRAME_BYTES || buffer.toString('hex', 8, 16) !== of) break;
      if (buffer.readUInt32BE(4) !== 0) end = from + bytesOf;
    }
    // The page of another program's last frame may be on its way still.
    return Math.min(end, fstatSync(log).size);
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

  function begunAnew(found: { readonly salts: string; readonly pageBytes: number }): void {
    size = committed(found.salts, found.pageBytes);
    salts = found.salts;
  }

  const found = header();
  if (typeof found === 'object') begunAnew(found);

  return {
    before() {
      const bytes = look();
      if (bytes === undefined) return 'moved';
      if (bytes >= size || bytes === 0) return undefined;
      const now = header();
      if (now === 'empty') return undefined;
      return now === 'none' || now.salts === salts ? 'damaged' : undefined;
    },
    after() {
      const bytes = look();
      if (bytes === undefined) return 'moved';
      const now = header();
      if (now === 'empty') return undefined;
      // A log that was emptied is written on where it ended, behind a hole. One that never was a log is left by such damage,
      // and the next thing that is written begins it anew.
      if (now === 'none') return salts === '' ? undefined : 'damaged';
      if (now.salts !== salts) begunAnew(now);
      else if (bytes < size) return 'damaged';
      else size = Math.min(bytes, limit);
      return undefined;
    },
    close: () => closeSync(log),
  };
}

function identity({ dev, ino }: Stats): string {
  return `${dev} ${ino}`;
}
