import { invalidParams } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/message.ts';
import type { Digest } from '../../core/ports/clock.ts';
import { isObject, readPayload } from './payload.ts';

/*
 * Deduplication of messages whose id is no id. Jira was seen to send a constant: taken for a key it would answer one
 * work item's message with another one's task. A comment that mentions the agent exists once, so its delivery is
 * keyed by what it is. Everything else is keyed by what it carries and by the invocation token that brought it: a
 * repeat of that very call is recognised, a later one is new work. Better twice than somebody else's answer.
 */

const PLACEHOLDERS = new Set(['', 'request-id-missing', 'null', 'undefined']);

export function isPlaceholder(messageId: Json | undefined): boolean {
  if (messageId === undefined || messageId === null) return true;
  return typeof messageId === 'string' && PLACEHOLDERS.has(messageId.trim().toLowerCase());
}

/** More than any real message has; a text of brackets alone would otherwise use up the stack. */
const MAX_DEPTH = 256;

/** JSON with sorted names, so that equal values have equal texts. */
function canonical(value: Json, depth = 0): string {
  if (depth > MAX_DEPTH) throw invalidParams('message', `must not be nested more than ${MAX_DEPTH} levels deep`);
  if (Array.isArray(value)) return `[${value.map((entry) => canonical(entry, depth + 1)).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const member = (name: string) => `${JSON.stringify(name)}:${canonical(value[name] ?? null, depth + 1)}`;
  return `{${Object.keys(value).sort().map(member).join(',')}}`;
}

export interface KeySource {
  readonly installationId: string;
  readonly principal: string;
  /** Of the invocation token. */
  readonly jti: string;
}

/**
 * The key of a message without a usable id, after normalisation. All of its content is part of it: two messages with
 * one key are equal, so the second is always a repeat and never a conflict. Throws INVALID_PARAMS on absurd nesting.
 */
export function substituteKey(message: JsonObject, source: KeySource, digest: Digest): string {
  const { messageId: _, ...content } = message;
  const { type, issue, comment } = readPayload(message.parts);
  // A mention that continues a context may be the user's second try at it: only the first delivery is unique.
  const mention =
    type === 'ISSUE_COMMENT_MENTION' && issue !== undefined && comment !== undefined && !isFollowUp(message)
      ? [issue.id, comment.id]
      : undefined;
  const identity = mention ?? [source.jti];
  const contentDigest = digest(canonical(content));
  return `rovo-${digest(JSON.stringify([type, source.installationId, source.principal, identity, contentDigest]))}`;
}

function isFollowUp(message: JsonObject): boolean {
  return message.contextId !== undefined || message.taskId !== undefined;
}
