/** `MISSING`: of one that has to be there. */
export type OpenErrorCode = 'MISSING' | 'UNUSABLE' | 'CORRUPT' | 'NEWER_SCHEMA' | 'OLDER_SCHEMA';

/** By the system's or SQLite's code: what whoever started it can do. The first that fits. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /^(EACCES|EPERM|EROFS|SQLITE_(READONLY|PERM|CANTOPEN|AUTH))/,
    'let this user read and write it, its folder and the files beside it',
  ],
  [/^ENOENT/, 'name a file in a folder that is there or can be made'],
  [/^(EISDIR|ENOTDIR)/, 'name a file, in a folder'],
  [/^(ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR_SHMSIZE)/, 'make room on that disk'],
  [/^SQLITE_(BUSY|LOCKED|PROTOCOL)/, 'end the program that holds it'],
  [/^(EIO|SQLITE_IOERR)/, 'see what the system says of that disk'],
];

/** Undefined: no more is known than what the error says itself. */
export function adviceFor(code: string | undefined): string | undefined {
  return ADVICE.find(([pattern]) => pattern.test(code ?? ''))?.[1];
}

export const RESTORE = 'restore a backup, as docs/operations.md says';

/** Why a database file was refused at the start. The message is for the operator: it names the file. */
export class SqliteOpenError extends Error {
  override readonly name = 'SqliteOpenError';
  readonly code: OpenErrorCode;

  constructor(code: OpenErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
