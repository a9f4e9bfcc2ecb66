import { MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { ruleOf } from '../../core/decide/rules.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { RuleCall, Transition } from '../../core/ports/decide.ts';
import { type Telemetry, withoutSpan } from '../../core/ports/telemetry.ts';
import type { Written } from '../../core/ports/wakeups.ts';
import { openSqliteStore, type SqliteStore } from './open.ts';
import { SqliteOpenError } from './open-error.ts';
import type { SentRule } from './sent-args.ts';
import { receivedError, sentError } from './sent-error.ts';
import { type SentTransition, sentTransition } from './sent-transition.ts';
import {
  type Answer,
  type FromStore,
  type MessageEnd,
  type ReadTrouble,
  type StoreCall,
  type ToStore,
  writeOf,
} from './store-messages.ts';
import { toldLine } from './told-events.ts';

/*
 * The side of the store's thread: it has the connection that writes and does what it is told. A decide function arrives as
 * the name of a rule and its data, and is made anew, so rules run inside the transaction here as they do in one thread.
 */

export interface ServeOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Makes a decide function from its rule. */
  readonly decideFor?: (call: RuleCall) => (...view: never[]) => unknown;
}

type Outgoing = { -readonly [K in keyof FromStore]?: FromStore[K] } & {
  answers: Answer[];
  topics: string[];
  told: string;
  said: FromStore['said'][number][];
  all: boolean;
};

type Method = (...args: unknown[]) => Promise<unknown>;

const nothing = (): Outgoing => ({ answers: [], topics: [], told: '', said: [], all: false });

/** Opens the file and serves it, until it is told to close. What went wrong is said to the other side. */
export async function serveStore(end: MessageEnd<FromStore, ToStore>, options: ServeOptions): Promise<void> {
  const decideFor = options.decideFor ?? ruleOf;
  let out = nothing();
  let due = false;
  let opened: SqliteStore | undefined;

  function send(): void {
    due = false;
    const { lost, unreadable } = opened?.health ?? { lost: undefined, unreadable: undefined };
    end.postMessage({ lost, unreadable, ...out });
    out = nothing();
  }

  /** When everything that a commit has settled has been heard: it goes out as one message. */
  function soon(): void {
    if (due) return;
    due = true;
    process.nextTick(send);
  }

  function say(said: FromStore['said'][number]): void {
    out.said.push(said);
    soon();
  }

  const telemetry: Telemetry = {
    event: (level, event, fields, error) =>
      say({ event, level, ...(fields && { fields }), ...(error === undefined ? {} : { error: sentError(error) }) }),
    count: (count, labels, by) => say({ count, ...(labels && { labels }), ...(by === undefined ? {} : { by }) }),
    gauge: (gauge, value, labels) => say({ gauge, value, ...(labels && { labels }) }),
    observe: (observe, value, labels) => say({ observe, value, ...(labels && { labels }) }),
    span: withoutSpan,
  };
  const wakeups = {
    notify(topic: string, written?: Written) {
      const line = written && toldLine(topic, written);
      if (line) out.told += line;
      else out.topics.push(topic);
      soon();
    },
    notifyAll() {
      out.all = true;
      soon();
    },
  };

  function answer(answered: Answer): void {
    out.answers.push(answered);
    soon();
  }

  function perform({ store, tenants, pushConfigs }: SqliteStore, [id, port, method, sent]: StoreCall): void {
    const place = writeOf(port, method);
    const perform = ({ store, tenants, pushConfigs }[port] as unknown as Record<string, Method>)[method];
    if (!place || !perform) throw new TypeError(`the store's thread has no ${port}.${method}`);
    const { decide, value } = place;
    const args = place.args ? place.args.receive(sent) : sent;
    const transitions: SentTransition[] = [];
    const moved = (transition: Transition): void => void transitions.push(sentTransition(transition));
    const values =
      decide === undefined
        ? args
        : args.map((arg, at) => (at === decide ? Object.assign(decideFor((arg as SentRule).rule), { moved }) : arg));
    perform(...values).then(
      (answered) => {
        const told = value ? value.send(answered) : answered;
        answer(transitions.length > 0 ? [id, told, transitions] : [id, told]);
      },
      (error: unknown) => answer({ id, error: sentError(error) }),
    );
  }

  function hear({ health }: SqliteStore, { fault, operations, error }: ReadTrouble): void {
    if (fault === 'damaged') health.lose(fault, operations);
    else health.heard(fault, operations, error && receivedError(error));
  }

  function performAll(sqlite: SqliteStore, { plain, calls, troubles, close }: ToStore): void {
    for (const trouble of troubles) hear(sqlite, trouble);
    for (const call of JSON.parse(plain) as readonly StoreCall[]) perform(sqlite, call);
    for (const call of calls) perform(sqlite, call);
    if (!close) return;
    const closed = (): void => {
      out.closed = true;
      soon();
    };
    sqlite.store.close().then(closed, (error: unknown) => {
      telemetry.event('error', 'store.close_failed', {}, error);
      closed();
    });
  }

  /** A fault of ours ends the process, as it would between two groups, and not the group alone that the message joins. */
  function joinAll(sqlite: SqliteStore, message: ToStore): void {
    try {
      performAll(sqlite, message);
    } catch (error) {
      setImmediate(() => {
        throw error;
      });
    }
  }

  /** It came while a group was written and may do more than join it, so it waits for the end of that. */
  let held: ToStore | undefined;

  function takeWaiting(sqlite: SqliteStore): void {
    while (!held && end instanceof MessagePort) {
      const message = receiveMessageOnPort(end)?.message as ToStore | undefined;
      if (!message) return;
      if (joins(message)) {
        joinAll(sqlite, message);
        continue;
      }
      held = message;
      setImmediate(() => {
        held = undefined;
        performAll(sqlite, message);
      });
    }
  }

  try {
    opened = await openSqliteStore({
      ...options,
      wakeups,
      telemetry,
      takeWaiting: () => opened && takeWaiting(opened),
    });
  } catch (error) {
    const code = error instanceof SqliteOpenError ? { code: error.code } : {};
    out.opened = { ...code, error: sentError(error) };
    send();
    return;
  }
  const sqlite = opened;
  end.on('message', (message) => performAll(sqlite, message));
  out.opened = true;
  send();
}

/** It holds nothing but what waits for a group: other calls read before that, or do what no transaction may be open for. */
function joins({ calls, troubles, close }: ToStore): boolean {
  return calls.length === 0 && troubles.length === 0 && !close;
}
