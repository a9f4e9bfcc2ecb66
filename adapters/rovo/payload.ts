import type { Json, JsonObject } from '../../core/message.ts';
import type { Invocation } from '../../core/ports/agent.ts';

/*
 * Reads the data part that Jira adds to a message. Nothing in it is needed for a message to be accepted and nothing
 * in it is trusted, so whatever has another shape than expected counts as absent. The form of A2A 0.3 is read too: it
 * had neither `invocationType` nor an issue key, and a chat said so by `chat: {message}`.
 */

/** The data part, read. An unknown type is passed on as it is. */
export interface Payload extends Invocation {
  /** Jira's account of the agent. */
  readonly agentAccountId?: string;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Ids are strings; a number is tolerated because JSON writers turn digits into one. */
function identifier(value: Json | undefined): string | undefined {
  return Number.isSafeInteger(value) ? String(value) : text(value)?.trim() || undefined;
}

/** Every data part that is an object, in order. */
export function dataOf(parts: unknown): readonly JsonObject[] {
  if (!Array.isArray(parts)) return [];
  return parts
    .map((part: unknown) => (isObject(part) ? object(part.data) : {}))
    .filter((data) => Object.keys(data).length > 0);
}

function typeOf(data: JsonObject): string {
  const type = text(data.invocationType)?.trim();
  if (type) return type;
  if (isObject(data.chat)) return 'CHAT';
  if (isObject(data.automation)) return 'AUTOMATION';
  if (isObject(data.comment)) return 'ISSUE_COMMENT_MENTION';
  return isObject(data.issue) ? 'ISSUE_ASSIGNMENT' : 'CHAT';
}

function issueOf(data: JsonObject): Invocation['issue'] {
  const issue = object(data.issue);
  const fields = object(issue.fields);
  const id = identifier(issue.id);
  if (id === undefined) return undefined;
  const key = text(fields.key) ?? text(issue.key);
  const summary = text(fields.summary);
  const description = text(fields.description);
  return {
    id,
    ...(key === undefined ? {} : { key }),
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
  };
}

// By these Jira's part is told from data that somebody attached.
const NAMES = ['invocationType', 'issue', 'comment', 'automation', 'chat', 'userAccountId', 'agentAccountId'];

/** `parts` of a message, validated or not. */
export function readPayload(parts: unknown): Payload {
  const all = dataOf(parts);
  const data = all.find((candidate) => NAMES.some((name) => name in candidate)) ?? {};
  const issue = issueOf(data);
  const comment = object(data.comment);
  const commentId = identifier(comment.id);
  const prompt = text(object(data.automation).prompt) ?? text(object(data.chat).message);
  const agentAccountId = identifier(data.agentAccountId);
  return {
    type: typeOf(data),
    ...(agentAccountId === undefined ? {} : { agentAccountId }),
    ...(issue === undefined ? {} : { issue }),
    ...(commentId === undefined ? {} : { comment: { id: commentId, body: text(comment.body) ?? '' } }),
    ...(prompt === undefined ? {} : { prompt }),
  };
}
