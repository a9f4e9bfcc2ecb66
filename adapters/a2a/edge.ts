import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../../core/message.ts';
import type { EdgeProfile } from '../../core/ports/edge.ts';
import type { Caller } from '../../core/principal.ts';
import type { Offer } from './offer.ts';

export type ProtocolVersion = '0.3' | '1.0';

/**
 * A door to the operations: who may come in, and what differs behind it. The endpoint knows the protocol and no caller,
 * an edge knows its callers and no protocol.
 */
export interface Edge {
  /** Label for logs and metrics; realm of the authentication challenge. */
  readonly name: string;
  readonly profile: EdgeProfile;
  /** What a call without `A2A-Version` speaks. */
  readonly defaultVersion: ProtocolVersion;
  /** Versions that are served, as `Major.Minor`. */
  readonly versions: readonly string[];
  /**
   * A call without `A2A-Version` speaks the served version that its method is of, where the default one has no such
   * method. For callers whose version is decided elsewhere, and who may not say it.
   */
  readonly versionByMethod?: boolean;
  /** Off: SendStreamingMessage and SubscribeToTask answer UNSUPPORTED_OPERATION. */
  readonly streaming: boolean;
  /** What its agent card promises and its callers are held to. Absent: it has no card, and nothing is held to one. */
  readonly offer?: Offer;
  /** It writes into the log itself whom it did not let in. */
  readonly logsRefusals?: boolean;
  /** What a client that still speaks 0.3 has to change, one sentence. */
  readonly legacyHint?: string;
  /**
   * Proves who calls, from the headers alone: the body has not been read yet. Rejects with DomainError UNAUTHENTICATED
   * (401), FORBIDDEN (403), AUTHENTICATION_UNAVAILABLE or STORE_UNAVAILABLE (503), OVERLOADED (429).
   */
  authenticate(headers: IncomingHttpHeaders, remote: { readonly address?: string }): Promise<Session>;
}

/** One authenticated request. */
export interface Session {
  /** The endpoint adds how the call came. */
  readonly caller: Omit<Caller, 'binding' | 'version'>;
  /** What `params.tenant` may say, beside the caller's own tenant id and nothing at all. */
  readonly tenant?: string | undefined;
  /**
   * Brings the params, as they came, into the form of the A2A specification. They are validated afterwards, so a
   * message without a usable messageId has to get one here. May throw DomainError.
   */
  prepare(call: { readonly method: string; readonly params: JsonObject }): PreparedCall;
}

export interface PreparedCall {
  readonly params: JsonObject;
  /** Deduplication id of a message: undefined = its messageId, null = it has none. */
  readonly key?: string | null | undefined;
  /** How long the interaction may take from now. */
  readonly deadlineMs: number;
  /** Account that the agent acts as. */
  readonly delegate?: string | undefined;
}
