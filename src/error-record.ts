import { shortText } from './without-credentials.ts';

/** A thrown thing as the log shows it. */
interface ErrorRecord {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: ErrorRecord;
}

const MAX_TEXT = 300;
const MAX_STACK = 4_000;
const MAX_CAUSES = 3;

export function errorRecord(error: unknown, depth = 0): ErrorRecord {
  if (!(error instanceof Error)) {
    const message = typeof error === 'object' || typeof error === 'function' ? 'not an Error' : String(error);
    return { type: typeof error, message: shortText(message, MAX_TEXT) };
  }
  const code = textIn(error, 'code', MAX_TEXT);
  const stack = textIn(error, 'stack', MAX_STACK);
  const cause = causeOf(error);
  return {
    type: textIn(error, 'name', MAX_TEXT) ?? 'Error',
    message: textIn(error, 'message', MAX_TEXT) ?? '',
    ...(code !== undefined && { code }),
    ...(stack !== undefined && { stack }),
    ...(cause !== undefined && depth < MAX_CAUSES && { cause: errorRecord(cause, depth + 1) }),
  };
}

/** A string property of whatever was thrown. Agents throw anything: getters that throw, numbers where texts belong. */
function textIn(value: object, name: string, max: number): string | undefined {
  try {
    const text: unknown = Reflect.get(value, name);
    return typeof text === 'string' ? shortText(text, max) : undefined;
  } catch {
    return undefined;
  }
}

function causeOf(error: Error): unknown {
  try {
    return error.cause;
  } catch {
    return undefined;
  }
}
