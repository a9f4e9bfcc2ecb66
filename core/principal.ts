/**
 * Who owns a task. Tenant ids carry their edge (`rovo:<installation>`, `jwt:<issuer>:<tenant>`, `anonymous`), so
 * two edges can never share one. Every read and write of the store takes an owner; a foreign task does not exist.
 */
export interface Owner {
  readonly tenant: string;
  readonly principal: string;
  /** AGENT_ID of this deployment. */
  readonly agent: string;
}

/** The invoking user's token, as it came with a call. Never logged, never stored unsealed. */
export interface UserToken {
  readonly token: string;
  /** Epoch milliseconds, when the token says so. */
  readonly expiresAt?: number;
}

/** A verified caller. Only an edge makes one, after it has proved who calls. */
export interface Caller {
  readonly owner: Owner;
  /** The account the agent acts as (Jira's `agentAccountId`); kept beside the task, never part of a key. */
  readonly delegate?: string;
  readonly userToken?: UserToken;
  /** Trace context or support id of the call, kept on the execution row. */
  readonly trace?: string;
  /** How the call came and the protocol version that it speaks, for logs and traces. */
  readonly binding?: string;
  readonly version?: string;
}

export function sameOwner(a: Owner, b: Owner): boolean {
  return a.tenant === b.tenant && a.principal === b.principal && a.agent === b.agent;
}
