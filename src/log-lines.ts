import pino, { type DestinationStream } from 'pino';

/*
 * Standard output, written once for all lines of a turn of the event loop: a write of its own costs a line about 10 µs,
 * and under load hundreds of them come together. A line is late by that one turn and by nothing else: no timer, no
 * thread. However the process ends by itself, what waits is written first; a SIGKILL can take the lines of the turn that
 * it hits, whose commits it may take as well.
 */

/** What waits is written at this length. Docker takes no more at once. */
const MOST_CHARS = 16_384;
/** What standard output does not take, as on a full disk, is kept up to this length and tried again with the next lines. */
const MOST_KEPT_BYTES = 1_048_576;

export interface LogLines extends DestinationStream {
  /** Writes what waits. */
  flush(): void;
}

export function createLogLines(
  out: DestinationStream = standardOutput(),
  ending: Pick<NodeJS.Process, 'on'> = process,
): LogLines {
  let waiting = '';

  function flush(): void {
    if (waiting === '') return;
    const lines = waiting;
    waiting = '';
    out.write(lines);
  }

  ending.on('exit', flush);
  return {
    write(line) {
      if (waiting === '') setImmediate(flush);
      waiting += line;
      if (waiting.length >= MOST_CHARS) flush();
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
