export type OpenErrorCode = 'UNUSABLE' | 'CORRUPT' | 'NEWER_SCHEMA' | 'OLDER_SCHEMA';

/** Why a database file was refused at the start. The message is for the operator: it names the file. */
export class SqliteOpenError extends Error {
  override readonly name = 'SqliteOpenError';
  readonly code: OpenErrorCode;

  constructor(code: OpenErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
