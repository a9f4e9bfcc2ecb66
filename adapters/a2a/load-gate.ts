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

export function createLoadGate(options: {
  readonly limits?: Partial<LoadLimits>;
  readonly telemetry: Pick<Telemetry, 'count' | 'gauge'>;
}): LoadGate {
  const limits = { ...LOAD_LIMITS, ...options.limits };
  const all: Open = { requests: 0, streams: 0 };
  const callers = new Map<string, Open>();
  const streamsOf = new Map<string, number>();
  let bodiesBytes = 0;
  let answersBytes = 0;

  function countStreams(edge: string, change: 1 | -1): void {
    const count = (streamsOf.get(edge) ?? 0) + change;
    streamsOf.set(edge, count);
    options.telemetry.gauge('a2a_open_streams', count, { edge });
  }

  function refuse(limit: LoadLimit, message: string, retryAfterMs: number): never {
    options.telemetry.count('a2a_refusals_total', { limit });
    throw overloaded(limit, message, retryAfterMs);
  }

  return {
    enter(edge) {
      if (all.requests >= limits.requests) refuse('requests', 'The service takes no calls at the moment', 1_000);
      all.requests += 1;
      let kind: keyof Open = 'requests';
      let key: string | undefined;
      let own: Open | undefined;
      let bytes = 0;
      let answerBytes = 0;
      let left = false;

      function dropBody(): void {
        bodiesBytes -= bytes;
        bytes = 0;
      }

      return {
        callerIs({ tenant, principal }) {
          if (left) return;
          key = JSON.stringify([tenant, principal]);
          const open = callers.get(key) ?? { requests: 0, streams: 0 };
          if (open.requests >= limits.requestsPerPrincipal) {
            refuse('requests-per-principal', 'Too many calls of yours are being answered', 1_000);
          }
          own = open;
          own.requests += 1;
          callers.set(key, own);
        },
        holdBody(more) {
          if (left) return;
          const others = bodiesBytes - bytes;
          if (others > 0 && bodiesBytes + more > limits.bodiesBytes) {
            refuse('bodies', 'The service reads too much at the moment', 1_000);
          }
          bodiesBytes += more;
          bytes += more;
        },
        becomeStream() {
          if (left || kind === 'streams') return;
          if (own && own.streams >= limits.streamsPerPrincipal) {
            refuse('streams-per-principal', 'Too many streams of yours are open', 5_000);
          }
          if (all.streams >= limits.streams) refuse('streams', 'Too many streams are open', 5_000);
          for (const open of own ? [all, own] : [all]) {
            open.requests -= 1;
            open.streams += 1;
          }
          kind = 'streams';
          countStreams(edge, 1);
        },
        holdAnswer(size) {
          if (left || size <= SMALL_ANSWER_BYTES) return;
          if (answersBytes > 0 && answersBytes + size > limits.answersBytes) {
            refuse('answers', 'Too much waits to be taken at the moment', 5_000);
          }
          answersBytes += size;
          answerBytes += size;
        },
        dropBody,
        leave() {
          if (left) return;
          left = true;
          dropBody();
          answersBytes -= answerBytes;
          all[kind] -= 1;
          if (kind === 'streams') countStreams(edge, -1);
          if (own === undefined || key === undefined) return;
          own[kind] -= 1;
          if (own.requests === 0 && own.streams === 0) callers.delete(key);
        },
      };
    },
  };
}
