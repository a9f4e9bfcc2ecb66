import pino, { type DestinationStream } from 'pino';

/*
 * Standard output. The text of a line takes 2 µs and a write of its own 10, and under load hundreds of lines come together,
 * each between a caller and its answer or between the store's thread and its next call. So lines are made and written behind
 * those: two turns of the event loop late, the first of which sends what waits for the thread, and by nothing else, no timer
 * and no thread. However the process ends by itself, what waits is written first; a SIGKILL can take the lines of the turns
 * that it hits, whose commits it may take as well.
 */

/** What waits is written at this length. Docker takes no more at once. */
const MOST_CHARS = 16_384;
/** So many lines are made at once, however busy it is: until then each keeps what it tells of. */
const MOST_DEFERRED = 1_000;
/** What standard output does not take, as on a full disk, is kept up to this length and tried again with the next lines. */
const MOST_KEPT_BYTES = 1_048_576;

export interface LogLines extends DestinationStream {
  /** `make` writes a line, later, in its place among the others. It must not throw. */
  defer(make: () => void): void;
  /** Writes what waits. */
  flush(): void;
}

export function createLogLines(
  out: DestinationStream = standardOutput(),
  ending: Pick<NodeJS.Process, 'on'> = process,
): LogLines {
  let deferred: (() => void)[] = [];
  let waiting = '';
  let due = false;

  function soon(): void {
    if (due) return;
    due = true;
    setImmediate(() => setImmediate(later));
  }

  function later(): void {
    flush();
    due = false;
  }

  function make(): void {
    const lines = deferred;
    deferred = [];
    for (const line of lines) line();
  }

  function flush(): void {
    make();
    if (waiting === '') return;
    const lines = waiting;
    waiting = '';
    out.write(lines);
  }

  ending.on('exit', flush);
  return {
    defer(line) {
      deferred.push(line);
      if (deferred.length >= MOST_DEFERRED) make();
      soon();
    },
    write(line) {
      make();
      waiting += line;
      if (waiting.length >= MOST_CHARS) flush();
      else soon();
    },
    flush,
  };
}

function standardOutput(): DestinationStream {
  const out = pino.destination({ fd: 1, sync: true, maxLength: MOST_KEPT_BYTES });
  // Nobody is left to be told, and a log that cannot be written is no reason to stop the service.
  out.on('error', () => undefined);
  return out;
}
