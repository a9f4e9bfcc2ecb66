import { Worker } from 'node:worker_threads';
import type { DomainError, StoreFault } from '../../core/errors.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { Decide, Transition } from '../../core/ports/decide.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { Wakeups } from '../../core/ports/wakeups.ts';
import { Registry } from '../../core/registry.ts';
import { createCredentials } from './credentials.ts';
import { openReadingConnection } from './database.ts';
import { createExecutions } from './executions.ts';
import { broken, faultOf, unavailable } from './failures.ts';
import type { Health } from './health.ts';
import { createPorts, type SqlitePorts } from './open.ts';
import { SqliteOpenError } from './open-error.ts';
import type { SentRule } from './sent-args.ts';
import { receivedError, sentError } from './sent-error.ts';
import { receivedTransition } from './sent-transition.ts';
import type { SentValue } from './sent-value.ts';
import {
  type FromStore,
  type MessageEnd,
  type ReadTrouble,
  type RemotePorts,
  type Said,
  type StoreCall,
  type StoreState,
  type ToStore,
  WRITES,
  type WritingPort,
  writeOf,
} from './store-messages.ts';
import { createTaskRows } from './task-rows.ts';
import { notifyTold } from './told-events.ts';

/*
 * The store with its writes in a thread of their own, so that neither statements nor the wait for the disk stop the event
 * loop: it goes on answering callers, streams and probes while a commit takes its time. Reads stay here, on a second
 * connection, because a read takes less than the way to the thread and back.
 *
 * What the thread answers is handled in the order in which it was committed: promises first, then wake-ups.
 */

/** Writes that wait for the thread. More than this means that the disk has stopped. */
const PENDING_MAX = 10_000;
/** So many calls do not wait for the rest of what this turn of the event loop brings: the thread may have nothing to do. */
const SENT_AT_ONCE = 20;

export interface ThreadedStoreOptions {
  /** As openSqliteStore has it. */
  readonly path: string;
  readonly clock: Clock;
  readonly wakeups: Wakeups;
  readonly telemetry: Telemetry;
}

export interface ThreadedStore extends SqlitePorts {
  /** Ends the thread where it stands. Resolves when it is gone, which may take as long as its disk takes. */
  halt(): Promise<void>;
}

interface Pending {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  readonly moved: ((transition: Transition) => void) | undefined;
  readonly value: SentValue | undefined;
  readonly args: readonly unknown[];
}

/** What goes to the thread with the next message. */
interface Unsent extends Omit<ToStore, 'plain'> {
  readonly plain: readonly StoreCall[];
}

interface Promised {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

const UNCHANGED = { stored: false, resumed: [] } as const;

/**
 * Starts `script` as the store's thread: it has to call serveStore. Rejects with SqliteOpenError as openSqliteStore does. An
 * error that nobody caught there is one here, too.
 */
export async function openThreadedStore(script: URL, options: ThreadedStoreOptions): Promise<ThreadedStore> {
  const worker = new Worker(script, { workerData: { path: options.path } });
  const gone = new Promise<void>((resolve) => {
    worker.once('exit', () => resolve());
    worker.once('error', () => resolve());
  });
  worker.on('error', (error) => {
    throw error;
  });
  const halt = async (): Promise<void> => {
    await worker.terminate();
  };
  const ports = await connectStore(worker, options, gone);
  return {
    ...ports,
    store: {
      ...ports.store,
      async close() {
        await ports.store.close();
        await halt();
      },
    },
    halt,
  };
}

/** The same with whatever serves the other end, which says nothing any more when it is `gone`. */
export async function connectStore(
  end: MessageEnd<ToStore, FromStore>,
  options: ThreadedStoreOptions,
  gone: Promise<void>,
): Promise<SqlitePorts> {
  const { path, clock, wakeups, telemetry } = options;
  const pending = new Registry<Pending>();
  let calls: StoreCall[] = [];
  let plain: StoreCall[] = [];
  /** Since the last message, one of a kind however many calls ran into it. */
  const troubles = new Map<StoreFault, ReadTrouble>();
  let due = false;
  let closing = false;
  let state: StoreState = { lost: undefined, unreadable: undefined };
  const opened = settledLater();
  const closed = settledLater();

  function send(): void {
    if (!due) return;
    due = false;
    const unsent = { plain, calls, troubles: [...troubles.values()], close: closing };
    plain = [];
    calls = [];
    troubles.clear();
    try {
      post(unsent);
    } catch {
      alone(unsent);
    }
  }

  function post({ plain, ...rest }: Unsent): void {
    end.postMessage({ plain: JSON.stringify(plain), ...rest });
  }

  /** One of the calls is what no message can hold, or all of them are more than one can: each goes by itself. */
  function alone({ plain, calls, troubles, close }: Unsent): void {
    const empty: Unsent = { plain: [], calls: [], troubles: [], close: false };
    const attempt = (call: StoreCall, message: Partial<Unsent>): void => {
      try {
        post({ ...empty, ...message });
      } catch (error) {
        const [id, port, method] = call;
        pending.take(id)?.reject(broken(`${port}.${method} was given what cannot be sent`, error));
      }
    };
    for (const call of plain) attempt(call, { plain: [call] });
    for (const call of calls) attempt(call, { calls: [call] });
    if (troubles.length > 0 || close) post({ ...empty, troubles, close });
  }

  function soon(): void {
    if (due) return;
    due = true;
    setImmediate(send);
  }

  function note(fault: StoreFault, operations = 1, error?: unknown): DomainError {
    if (fault === 'damaged') state = { ...state, lost: state.lost ?? fault, unreadable: fault };
    const sent = error === undefined ? {} : { error: sentError(error) };
    const before = troubles.get(fault);
    troubles.set(fault, { ...sent, ...before, fault, operations: operations + (before?.operations ?? 0) });
    // A thread that has stopped hears nothing, and what it is told would pile up.
    if (!closing && pending.size < PENDING_MAX) soon();
    return unavailable(state.lost ?? fault, error);
  }

  /** What the thread knows of the file, as far as this side has to know it. It is the thread that says it in the log. */
  const health: Health = {
    get lost() {
      return state.lost;
    },
    get unreadable() {
      return state.unreadable;
    },
    failed: (error, operations) => note(faultOf(error), operations, error),
    refused: note,
    heard: note,
    lose: (fault, operations) => note(fault, operations),
    worked() {},
  };

  function call(port: WritingPort, method: string, args: readonly unknown[]): Promise<never> {
    if (closing) return Promise.reject(unavailable('closed'));
    if (state.lost || pending.size >= PENDING_MAX) return Promise.reject(health.refused(state.lost ?? 'locked'));
    const { decide: at, plain: isPlain, args: byPlace, value } = writeOf(port, method) ?? {};
    const decide = at === undefined ? undefined : (args[at] as Decide<[], unknown>);
    if (decide && !decide.rule) return Promise.reject(broken(`${method} was given a function that is no rule`));
    const rule = decide?.rule;
    // No `map`: what it makes may have holes, for all that the engine knows, and is copied to the thread element by element.
    const named = [...args];
    if (rule && at !== undefined) named[at] = { rule } satisfies SentRule;
    const sent = byPlace ? byPlace.send(named) : named;
    return new Promise((resolve, reject) => {
      const id = pending.add({ resolve, reject, moved: decide?.moved, value, args });
      (isPlain ? plain : calls).push([id, port, method, sent]);
      soon();
      if (plain.length >= SENT_AT_ONCE) send();
    });
  }

  function settle(answer: FromStore['answers'][number]): void {
    if ('error' in answer) {
      pending.take(answer.id)?.reject(receivedError(answer.error));
      return;
    }
    const [id, sent, transitions] = answer;
    const waiting = pending.take(id);
    if (!waiting) return;
    const { moved, value, args } = waiting;
    if (moved && transitions) for (const transition of transitions) moved(receivedTransition(transition));
    waiting.resolve((value ? value.receive(sent, args) : sent) as never);
  }

  function repeat(said: Said): void {
    if ('event' in said) {
      telemetry.event(said.level, said.event, said.fields, said.error && receivedError(said.error));
    } else if ('count' in said) telemetry.count(said.count, said.labels, said.by);
    else if ('gauge' in said) telemetry.gauge(said.gauge, said.value, said.labels);
    else telemetry.observe(said.observe, said.value, said.labels);
  }

  end.on('message', ({ answers, topics, told, all, said, ...message }) => {
    state = { lost: state.lost ?? message.lost, unreadable: state.lost ?? message.unreadable };
    for (const answer of answers) settle(answer);
    if (troubles.size > 0 && !closing) soon();
    for (const each of said) repeat(each);
    if (all) wakeups.notifyAll();
    else {
      notifyTold(wakeups, told);
      for (const topic of new Set(topics)) wakeups.notify(topic);
    }
    if (message.opened === true) opened.resolve();
    else if (message.opened) opened.reject(openError(message.opened));
    if (message.closed) closed.resolve();
  });

  function leave(): void {
    for (const { reject } of pending.values()) reject(unavailable('closed'));
  }

  // Its fault ends the process, unless an agent's code has an opinion about that: then nobody may wait for it for ever.
  void gone.then(() => {
    closing = true;
    closed.resolve();
    leave();
  });

  await opened.promise;
  const connection = openReadingConnection(path, health);
  const credentials = createCredentials(connection, createTaskRows(connection));
  const here = createPorts({
    connection,
    clock,
    executions: createExecutions(connection),
    writes: {
      run: () => Promise.reject(broken('this connection only reads')),
      close() {},
    },
    closed: () => connection.close(),
  });
  const there = remotePorts(call);
  return {
    operator: here.operator,
    tenants: { ...here.tenants, ...there.tenants },
    pushConfigs: { ...here.pushConfigs, ...there.pushConfigs },
    store: {
      ...here.store,
      ...there.store,
      async renewCredential(subject, credential, resume) {
        if (connection.snapshot(() => credentials.isKnown(subject, credential, clock.now()))) return UNCHANGED;
        return there.store.renewCredential(subject, credential, resume);
      },
      async close() {
        // The last one to close copies the log into the database: the one that looks after the file.
        await here.store.close();
        closing = true;
        due = true;
        send();
        await closed.promise;
        leave();
      },
    },
  };
}

function settledLater(): Promised {
  let promised: Omit<Promised, 'promise'> | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    promised = { resolve, reject };
  });
  return { promise, resolve: () => promised?.resolve(), reject: (error) => promised?.reject(error) };
}

function remotePorts(call: (port: WritingPort, method: string, args: readonly unknown[]) => Promise<never>) {
  const methods = (port: WritingPort) =>
    Object.fromEntries(
      Object.keys(WRITES[port]).map((method) => [method, (...args: unknown[]) => call(port, method, args)]),
    );
  return {
    store: methods('store'),
    tenants: methods('tenants'),
    pushConfigs: methods('pushConfigs'),
  } as unknown as RemotePorts;
}

function openError({ code, error }: Exclude<FromStore['opened'], true | undefined>): Error {
  const received = receivedError(error);
  return code === undefined ? received : new SqliteOpenError(code, received.message, received.cause);
}
