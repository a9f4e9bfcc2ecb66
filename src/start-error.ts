/** A start that failed for a reason the operator can mend: `message` says it in full, no stack is needed. */
export class StartError extends Error {
  override readonly name = 'StartError';
  /** 78 when the configuration names something that cannot be used, else 1. */
  readonly exitCode: number;

  constructor(message: string, options: { readonly exitCode?: number; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
  }
}
