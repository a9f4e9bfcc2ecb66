import type { StoredEvent } from '../../core/event.ts';
import type { Wakeups, Written } from '../../core/ports/wakeups.ts';

/*
 * What the store's thread tells of the events that it wrote, for those who follow a task there. Mostly nobody does, so it
 * goes over as one text, which is copied at a tenth of the price of objects (0.2 and 1.7 microseconds a commit), and is read
 * when somebody asks. A line is a commit; neither ids nor JSON hold the characters that divide it.
 */

/** The other side gets no more of a commit unasked. */
const TOLD_CHARS = 65_536;

export interface WrittenEvent extends StoredEvent {
  /** Its body as JSON, which has been made for its row. */
  readonly text?: string;
}

/** Undefined: it is so large that whoever wants it has to read it. */
export function toldLine(topic: string, { first, last, events, reply }: Written): string | undefined {
  const written: readonly WrittenEvent[] = events;
  let text = '[';
  for (const event of written) {
    const body = event.text ?? JSON.stringify(event.body);
    text += `${text.length > 1 ? ',' : ''}{"sequence":${event.sequence},"at":${event.at},"body":${body}}`;
  }
  text += ']';
  return text.length > TOLD_CHARS ? undefined : `${topic}\t${first}\t${last}\t${reply ? 1 : 0}\t${text}\n`;
}

/** Notifies of each task once, with what all commits of these lines wrote to it, or with nothing when one of them is missing. */
export function notifyTold(wakeups: Pick<Wakeups, 'notify'>, lines: string): void {
  if (lines === '') return;
  const tasks = new Map<string, ToldEvents | undefined>();
  for (const line of lines.split('\n')) {
    const [topic = '', first, last, reply, events] = line.split('\t');
    if (events === undefined) continue;
    const before = tasks.get(topic);
    // What was too large to be told lies between them.
    if (tasks.has(topic) && before?.last !== Number(first) - 1) {
      tasks.set(topic, undefined);
      continue;
    }
    const told = before ?? new ToldEvents(Number(first));
    told.last = Number(last);
    told.reply = reply === '1';
    told.texts.push(events);
    if (!before) tasks.set(topic, told);
  }
  for (const [topic, written] of tasks) wakeups.notify(topic, written);
}

class ToldEvents implements Written {
  readonly first: number;
  readonly texts: string[] = [];
  last = 0;
  reply = false;
  private parsed: readonly StoredEvent[] | undefined;

  constructor(first: number) {
    this.first = first;
  }

  get events(): readonly StoredEvent[] {
    this.parsed ??= this.texts.flatMap((text) => JSON.parse(text) as readonly StoredEvent[]);
    return this.parsed;
  }
}
