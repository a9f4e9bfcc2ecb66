import type { UserToken } from '../principal.ts';

/** A user's token as the store keeps it: a digest to compare and, when a key is configured, the sealed token. */
export interface Credential {
  /** Digest of the token. */
  readonly hash: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** Absent when tokens stay in the memory of the process. */
  readonly sealed?: string;
}

export interface CredentialSubject {
  readonly tenant: string;
  readonly principal: string;
}

/** Seals and opens user tokens, or keeps them in memory. Rows live in the store, in the task's own transactions. */
export interface Vault {
  hold(subject: CredentialSubject, token: UserToken): Promise<Credential>;
  /** The token, or undefined when it is not to be had here (other process, lost key, foreign subject). */
  reveal(subject: CredentialSubject, credential: Credential): Promise<string | undefined>;
  /**
   * Forgets every token kept in memory whose hash is not among these, unless it was held a moment ago: its row may be
   * committed only after the hashes were read.
   */
  retain(hashes: ReadonlySet<string>): void;
}
