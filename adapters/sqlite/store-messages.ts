import type { StoreFault } from '../../core/errors.ts';
import type { Labels, Level, LogFields } from '../../core/ports/telemetry.ts';
import type { SqlitePorts } from './open.ts';
import type { OpenErrorCode } from './open-error.ts';
import { ACCEPT_ARGS, type SentArgs, UPDATE_ARGS } from './sent-args.ts';
import type { SentError } from './sent-error.ts';
import type { SentTransition } from './sent-transition.ts';
import { ACCEPTED, type SentValue, UPDATED } from './sent-value.ts';

/*
 * What the store's thread is told and tells. Both sides gather what one turn of their event loop brings into one message,
 * because most of the price of a message does not depend on what is in it.
 */

/** A method that writes. */
export interface Write {
  readonly decide?: number;
  /** What it is given is JSON: as text it is read at half the price of objects. */
  readonly plain?: true;
  /** Absent: what it is given is sent as it is, but for its rule. */
  readonly args?: SentArgs;
  /** Absent: what it answers is sent as it is. */
  readonly value?: SentValue;
}

/** What the thread does: every method that writes, with the place of its decide function, which goes there as its rule. */
export const WRITES = {
  store: {
    accept: { decide: 1, plain: true, args: ACCEPT_ARGS, value: ACCEPTED },
    update: { decide: 1, plain: true, args: UPDATE_ARGS, value: UPDATED },
    claim: { decide: 1 },
    renewCredential: { decide: 2 },
    heartbeat: {},
    beginStep: {},
    endStep: {},
    sweepCredentials: {},
    purge: {},
    ping: {},
  },
  tenants: { put: {}, remove: {}, erase: {} },
  pushConfigs: { put: {}, remove: {} },
} as const satisfies { [P in keyof SqlitePorts]?: { [M in keyof SqlitePorts[P]]?: Write } };

export type WritingPort = keyof typeof WRITES;
export type RemotePorts = { [P in WritingPort]: Pick<SqlitePorts[P], keyof (typeof WRITES)[P] & keyof SqlitePorts[P]> };

/** Undefined: there is no such write. */
export function writeOf(port: WritingPort, method: string): Write | undefined {
  return (WRITES[port] as Readonly<Record<string, Write>>)[method];
}

export type StoreCall = readonly [id: number, port: WritingPort, method: string, args: readonly unknown[]];

/** A read of the other side went wrong, or was refused because of what is known already. */
export interface ReadTrouble {
  readonly fault: StoreFault;
  readonly operations: number;
  readonly error?: SentError;
}

export interface ToStore {
  /** JSON of the plain ones among the calls, an array. They are done before the others: nobody may rely on an order between them. */
  readonly plain: string;
  readonly calls: readonly StoreCall[];
  readonly troubles: readonly ReadTrouble[];
  /** After these calls: commit what waits, close the file, and say so. */
  readonly close: boolean;
}

export type Answer =
  | readonly [id: number, value: unknown, transitions?: readonly SentTransition[]]
  | { readonly id: number; readonly error: SentError };

export type Said =
  | { readonly event: string; readonly level: Level; readonly fields?: LogFields; readonly error?: SentError }
  | { readonly count: string; readonly labels?: Labels; readonly by?: number }
  | { readonly gauge: string; readonly value: number; readonly labels?: Labels }
  | { readonly observe: string; readonly value: number; readonly labels?: Labels };

export interface StoreState {
  readonly lost: StoreFault | undefined;
  readonly unreadable: StoreFault | undefined;
}

export interface FromStore extends StoreState {
  readonly answers: readonly Answer[];
  /** To be notified, those that `told` has lines of before them; `all` in their place. */
  readonly topics: readonly string[];
  readonly told: string;
  readonly all: boolean;
  readonly said: readonly Said[];
  /** The first message: the file is open, or why not. */
  readonly opened?: true | { readonly code?: OpenErrorCode; readonly error: SentError };
  /** The last message. */
  readonly closed?: true;
}

/** A worker, its parent, or either end of a channel. */
export interface MessageEnd<Out, In> {
  postMessage(message: Out): void;
  on(event: 'message', listener: (message: In) => void): unknown;
}
