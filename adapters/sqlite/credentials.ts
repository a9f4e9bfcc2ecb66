import type { Credential, CredentialSubject } from '../../core/ports/vault.ts';
import type { Connection, Query } from './database.ts';
import type { TaskRows } from './task-rows.ts';

const SELECT_CREDENTIAL = 'select hash, expires_at, sealed from credential where tenant = ? and principal = ?';
const UPSERT_CREDENTIAL = `insert into credential (tenant, principal, hash, expires_at, sealed) values (?, ?, ?, ?, ?)
  on conflict (tenant, principal) do update
  set hash = excluded.hash, expires_at = excluded.expires_at, sealed = excluded.sealed`;
const DELETE_EXPIRED = 'delete from credential where expires_at <= ?';
const SELECT_HASHES = 'select hash from credential';

interface CredentialRow {
  readonly hash: string;
  readonly expires_at: number;
  readonly sealed: string | null;
}

interface Credentials {
  find(subject: CredentialSubject, now: number): Credential | undefined;
  /**
   * Writes it when it is another token, lasts as long as the stored one at least, is not the one that a task is parked
   * for, and a live task may need it.
   */
  keep(subject: CredentialSubject, credential: Credential, now: number): boolean;
  /** `keep` would write nothing and no task waits for it. Every poll asks this, and nearly none brings anything new. */
  isKnown(subject: CredentialSubject, credential: Credential, now: number): boolean;
  sweep(now: number): void;
  hashes(): ReadonlySet<string>;
}

export function createCredentials(connection: Connection, tasks: TaskRows): Credentials {
  const select: Query<[tenant: string, principal: string], CredentialRow> = connection.prepare(SELECT_CREDENTIAL);
  const upsert: Query<
    [tenant: string, principal: string, hash: string, expiresAt: number, sealed: string | null],
    unknown
  > = connection.prepare(UPSERT_CREDENTIAL);
  const deleteExpired: Query<[now: number], unknown> = connection.prepare(DELETE_EXPIRED);
  const selectHashes: Query<[], { hash: string }> = connection.prepare(SELECT_HASHES);

  function find({ tenant, principal }: CredentialSubject, now: number): Credential | undefined {
    const row = select.get(tenant, principal);
    if (!row || row.expires_at <= now) return undefined;
    return {
      hash: row.hash,
      expiresAt: row.expires_at,
      ...(row.sealed === null ? {} : { sealed: row.sealed }),
    };
  }

  return {
    find,
    isKnown(subject, credential, now) {
      if (!tasks.hasLive(subject.tenant, subject.principal)) return true;
      return find(subject, now)?.hash === credential.hash && !tasks.hasParked(subject, credential.hash);
    },
    keep({ tenant, principal }, credential, now) {
      if (credential.expiresAt <= now || !tasks.hasLive(tenant, principal)) return false;
      if (tasks.isRefused({ tenant, principal }, credential.hash)) return false;
      const stored = select.get(tenant, principal);
      if (stored && (stored.hash === credential.hash || credential.expiresAt < stored.expires_at)) return false;
      upsert.run(tenant, principal, credential.hash, credential.expiresAt, credential.sealed ?? null);
      return true;
    },
    sweep(now) {
      deleteExpired.run(now);
    },
    hashes: () => new Set(selectHashes.all().map((row) => row.hash)),
  };
}
