// A process of its own with the store open. Reads commands, one JSON a line, and answers each with one JSON line.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { openSqliteStore } from '../../adapters/sqlite/open.ts';
import { systemClock } from '../../src/system-clock.ts';
import { accept } from './scenario.ts';
import { createRecordingWakeups, type Subject } from './subject.ts';

export interface ChildCommand {
  /** Accepts to send at once. */
  readonly accepts: readonly { readonly id: string; readonly key: string; readonly contextId?: string }[];
  readonly exclusive?: boolean;
}

export interface ChildAnswer {
  readonly kind: string;
  readonly id: string;
}

/** Synchronous, so that a trace of system calls shows the answer where it is given. */
function say(answer: unknown): void {
  writeSync(1, `${JSON.stringify(answer)}\n`);
}

const [, , path = ''] = process.argv;
const wakeups = createRecordingWakeups();
const { store, tenants, operator } = await openSqliteStore({ path, clock: systemClock, wakeups });
const subject: Subject = {
  ...{ store, tenants, operator },
  now: Date.now,
  advance() {},
  notified: () => wakeups.notified(),
};
say({ ready: true });

for await (const line of createInterface({ input: process.stdin })) {
  const { accepts, exclusive = false } = JSON.parse(line) as ChildCommand;
  const answers = await Promise.all(
    accepts.map((options) =>
      accept(subject, { ...options, exclusive, text: 'hi' }).then(
        ({ kind, record }): ChildAnswer => ({ kind, id: record.id }),
        (error): ChildAnswer => ({ kind: String(error.code ?? error), id: options.id }),
      ),
    ),
  );
  say(answers);
}
await store.close();
