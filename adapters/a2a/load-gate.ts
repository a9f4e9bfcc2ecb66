import { overloaded } from '../../core/errors.ts';
import type { LoadLimit } from '../../core/limits.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { Owner } from '../../core/principal.ts';

/*
 * How much the edges take on at once, all of them together and each caller by itself. Every count is kept and none is
 * taken, so a refusal costs nothing that grows with what is open; a caller is remembered while it has anything open.
 *
 * A call that becomes a stream stops counting as a request: streams may stay open for an hour, and polling must not
 * wait for them.
 */

export interface LoadLimits {
  /** Calls that are being answered, without open streams. */
  readonly requests: number;
  readonly requestsPerPrincipal: number;
  readonly streams: number;
  readonly streamsPerPrincipal: number;
  /** Bytes of bodies that are being read or answered. A single body always has room. */
  readonly bodiesBytes: number;
  /** Bytes of answers that were not taken yet. A single answer always has room, and so has a small one. */
  readonly answersBytes: number;
}

const LOAD_LIMITS: LoadLimits = {
  requests: 2_000,
  requestsPerPrincipal: 500,
  streams: 10_000,
  streamsPerPrincipal: 1_000,
  bodiesBytes: 128 * 1_024 * 1_024,
  answersBytes: 256 * 1_024 * 1_024,
};

/** Are not counted: the bound on requests is theirs, and large answers of others must not keep a call from its own. */
const SMALL_ANSWER_BYTES = 65_536;

/**
 * What one call holds. Each method throws OVERLOADED when there is no room, and then holds nothing more than before. Once
 * the call has left it takes nothing any more, whatever of it still goes on: nobody would free it.
 */
export interface Place {
  /** Once, when it is known who calls. */
  callerIs(owner: Owner): void;
  holdBody(bytes: number): void;
  /** It is to be answered by a stream. */
  becomeStream(): void;
  /** Once, when the answer is there and before it goes out. Not for streams, which hold no more than an event. */
  holdAnswer(bytes: number): void;
  /** The body is not needed any more. */
  dropBody(): void;
  /** Frees all of it. */
  leave(): void;
}

export interface LoadGate {
  /** A call at that edge. Throws OVERLOADED. */
  enter(edge: string): Place;
}

interface Open {
  requests: number;
  streams: number;
}

/** What all calls together hold, by the names that a place uses. */
interface Ledger {
  readonly limits: LoadLimits;
  readonly all: Open;
  readonly callers: Map<string, Open>;
  bodiesBytes: number;
  answersBytes: number;
  countStreams(edge: string, change: 1 | -1): void;
  refuse(limit: LoadLimit, message: string, retryAfterMs: number): never;
}

export function createLoadGate(options: {
  readonly limits?: Partial<LoadLimits>;
  readonly telemetry: Pick<Telemetry, 'count' | 'gauge'>;
}): LoadGate {
  const { telemetry } = options;
  const streamsOf = new Map<string, number>();
  const ledger: Ledger = {
    limits: { ...LOAD_LIMITS, ...options.limits },
    all: { requests: 0, streams: 0 },
    callers: new Map(),
    bodiesBytes: 0,
    answersBytes: 0,
    countStreams(edge, change) {
      const count = (streamsOf.get(edge) ?? 0) + change;
      streamsOf.set(edge, count);
      telemetry.gauge('a2a_open_streams', count, { edge });
    },
    refuse(limit, message, retryAfterMs) {
      telemetry.count('a2a_refusals_total', { limit });
      throw overloaded(limit, message, retryAfterMs);
    },
  };
  return {
    enter(edge) {
      const { all, limits } = ledger;
      if (all.requests >= limits.requests) ledger.refuse('requests', 'The service takes no calls at the moment', 1_000);
      return new HeldPlace(ledger, edge);
    },
  };
}

/** A class, because each call has one and a closure for each of its methods would be a kilobyte of garbage. */
class HeldPlace implements Place {
  private readonly ledger: Ledger;
  private readonly edge: string;
  private kind: keyof Open = 'requests';
  private key = '';
  private own: Open | undefined;
  private bytes = 0;
  private answerBytes = 0;
  private left = false;

  constructor(ledger: Ledger, edge: string) {
    this.ledger = ledger;
    this.edge = edge;
    ledger.all.requests += 1;
  }

  callerIs({ tenant, principal }: Owner): void {
    if (this.left) return;
    const { callers, limits, refuse } = this.ledger;
    // No two callers have the same, whatever their names hold.
    this.key = `${tenant.length} ${tenant}${principal}`;
    const open = callers.get(this.key) ?? { requests: 0, streams: 0 };
    if (open.requests >= limits.requestsPerPrincipal) {
      refuse('requests-per-principal', 'Too many calls of yours are being answered', 1_000);
    }
    this.own = open;
    open.requests += 1;
    // One that was in the map already stays where it is.
    if (open.requests + open.streams === 1) callers.set(this.key, open);
  }

  holdBody(more: number): void {
    if (this.left) return;
    const { ledger } = this;
    const others = ledger.bodiesBytes - this.bytes;
    if (others > 0 && ledger.bodiesBytes + more > ledger.limits.bodiesBytes) {
      ledger.refuse('bodies', 'The service reads too much at the moment', 1_000);
    }
    ledger.bodiesBytes += more;
    this.bytes += more;
  }

  becomeStream(): void {
    if (this.left || this.kind === 'streams') return;
    const { own, edge } = this;
    const { all, limits, refuse, countStreams } = this.ledger;
    if (own && own.streams >= limits.streamsPerPrincipal) {
      refuse('streams-per-principal', 'Too many streams of yours are open', 5_000);
    }
    if (all.streams >= limits.streams) refuse('streams', 'Too many streams are open', 5_000);
    for (const open of own ? [all, own] : [all]) {
      open.requests -= 1;
      open.streams += 1;
    }
    this.kind = 'streams';
    countStreams(edge, 1);
  }

  holdAnswer(size: number): void {
    const { ledger } = this;
    if (this.left || size <= SMALL_ANSWER_BYTES) return;
    if (ledger.answersBytes > 0 && ledger.answersBytes + size > ledger.limits.answersBytes) {
      ledger.refuse('answers', 'Too much waits to be taken at the moment', 5_000);
    }
    ledger.answersBytes += size;
    this.answerBytes += size;
  }

  dropBody(): void {
    this.ledger.bodiesBytes -= this.bytes;
    this.bytes = 0;
  }

  leave(): void {
    if (this.left) return;
    const { ledger, own, kind, edge } = this;
    this.left = true;
    this.dropBody();
    ledger.answersBytes -= this.answerBytes;
    ledger.all[kind] -= 1;
    if (kind === 'streams') ledger.countStreams(edge, -1);
    if (own === undefined) return;
    own[kind] -= 1;
    if (own.requests === 0 && own.streams === 0) ledger.callers.delete(this.key);
  }
}
