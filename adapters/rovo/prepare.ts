import { invalidParams } from '../../core/errors.ts';
import type { JsonObject } from '../../core/message.ts';
import type { Digest } from '../../core/ports/clock.ts';
import { isPlaceholder, substituteKey } from './message-key.ts';
import { normaliseParams } from './normalise.ts';
import { dataOf, isObject, readPayload } from './payload.ts';

export interface Call {
  readonly method: string;
  readonly params: JsonObject;
}

export interface Prepared {
  /** Ready to be validated in the version of A2A that the method is of. */
  readonly params: JsonObject;
  /** Deduplication key in place of the message id, when that one is a placeholder. */
  readonly key?: string;
  /** How long the interaction may take from now. */
  readonly deadlineMs: number;
  /** Jira's account of the agent. */
  readonly delegate?: string;
}

export interface PrepareOptions {
  /** The verified caller: bare installation uuid, account id and the `jti` of the token. */
  readonly installationId: string;
  readonly principal: string;
  readonly jti: string;
  readonly digest: Digest;
  /** Interactions that started in a chat, and from a work item. */
  readonly chatDeadlineMs: number;
  readonly itemDeadlineMs: number;
}

const ACCOUNT_ID = /^[\x21-\x7e]{1,256}$/;

/** Whoever a message says that it comes from must be who the token proved. */
function checkUser(parts: unknown, principal: string): void {
  for (const data of dataOf(parts)) {
    const { userAccountId = '' } = data;
    if (userAccountId === '' || userAccountId === null || userAccountId === principal) continue;
    throw invalidParams('message.parts', 'userAccountId is not the calling user');
  }
}

/**
 * From what Jira sends to what A2A means, in 1.0 and in 0.3. Pure. Throws DomainError INVALID_PARAMS; everything that only looks odd
 * passes, for the validation behind it to judge.
 */
export function prepareCall(call: Call, options: PrepareOptions): Prepared {
  const params = normaliseParams(call.method, call.params);
  const { message } = params;
  if (!isObject(message)) return { params, deadlineMs: options.itemDeadlineMs };
  checkUser(message.parts, options.principal);
  const { type, agentAccountId } = readPayload(message.parts);
  const base = {
    deadlineMs: type === 'CHAT' ? options.chatDeadlineMs : options.itemDeadlineMs,
    ...(agentAccountId !== undefined && ACCOUNT_ID.test(agentAccountId) ? { delegate: agentAccountId } : {}),
  };
  if (!isPlaceholder(message.messageId)) return { ...base, params };
  const key = substituteKey(message, options, options.digest);
  return { ...base, key, params: { ...params, message: { ...message, messageId: key } } };
}
