import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../json.ts';
import { adfToPlainText } from '../site/adf.ts';
import type { Comment, Person, WorkItem } from '../site/model.ts';

/**
 * The params that Jira's client prints for what people do. It prints the defaults of the proto (`"contextId":""`), which
 * mean that nothing was said. A captured request carried a constant instead of a messageId: `PLACEHOLDER_MESSAGE_ID`.
 */
export interface MessageParams {
  readonly tenant: string;
  readonly message: {
    readonly messageId: string;
    readonly contextId: string;
    readonly taskId: string;
    readonly role: 'ROLE_USER';
    readonly parts: readonly JsonObject[];
    readonly extensions: readonly string[];
    readonly referenceTaskIds: readonly string[];
  };
  readonly configuration: JsonObject;
}

export const PLACEHOLDER_MESSAGE_ID = 'request-id-missing';

export interface MessageIds {
  readonly messageId?: string;
  readonly contextId?: string;
  readonly taskId?: string;
}

interface Ask {
  readonly user: Person;
  readonly agent: Person;
}

const PRINTED_DEFAULTS = { filename: '', mediaType: '' } as const;

function params(text: string, data: JsonObject | undefined, ids: MessageIds): MessageParams {
  return {
    tenant: '',
    message: {
      messageId: ids.messageId ?? randomUUID(),
      contextId: ids.contextId ?? '',
      taskId: ids.taskId ?? '',
      role: 'ROLE_USER',
      parts: [{ text, ...PRINTED_DEFAULTS }, ...(data ? [{ data, ...PRINTED_DEFAULTS }] : [])],
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: { acceptedOutputModes: [], returnImmediately: false },
  };
}

const accounts = ({ user, agent }: Ask): JsonObject => ({
  userAccountId: user.accountId,
  agentAccountId: agent.accountId,
});
const issue = (item: WorkItem): JsonObject => ({
  id: item.id,
  fields: { key: item.key, summary: item.summary, description: adfToPlainText(item.description).trim() },
});

export function assignmentParams(ask: Ask & { readonly item: WorkItem }, ids: MessageIds = {}): MessageParams {
  const text = `You have been assigned to a work item "${ask.item.summary}". Analyze the details of the work item and get started.`;
  return params(text, { ...accounts(ask), invocationType: 'ISSUE_ASSIGNMENT', issue: issue(ask.item) }, ids);
}

export function mentionParams(
  ask: Ask & { readonly item: WorkItem; readonly comment: Comment; readonly body: string },
  ids: MessageIds = {},
): MessageParams {
  const text = `You have been mentioned in a comment on a work item "${ask.item.summary}". Review the comment and respond appropriately.`;
  const data = {
    ...accounts(ask),
    invocationType: 'ISSUE_COMMENT_MENTION',
    issue: issue(ask.item),
    comment: { id: ask.comment.id, body: ask.body },
  };
  return params(text, data, ids);
}

export function automationParams(ask: Ask & { readonly prompt: string }, ids: MessageIds = {}): MessageParams {
  const data = { ...accounts(ask), invocationType: 'AUTOMATION', automation: { prompt: ask.prompt } };
  return params(ask.prompt, data, ids);
}

/** The person's text alone; a follow-up adds the contextId. */
export function chatParams(text: string, ids: MessageIds = {}): MessageParams {
  return params(text, undefined, ids);
}

/** The body of an assignment as Jira sent it before 1.0, placeholder id and all. */
export function legacyAssignmentParams(ask: Ask & { readonly item: WorkItem }): JsonObject {
  const { id, summary, description } = ask.item;
  return {
    message: {
      role: 'user',
      parts: [
        { text: `You have been assigned to a work item "${summary}".`, kind: 'text' },
        {
          data: { ...accounts(ask), issue: { id, fields: { summary, description: adfToPlainText(description) } } },
          kind: 'data',
        },
      ],
      messageId: PLACEHOLDER_MESSAGE_ID,
      kind: 'message',
    },
    configuration: { acceptedOutputModes: [], blocking: true },
    metadata: {},
  };
}
