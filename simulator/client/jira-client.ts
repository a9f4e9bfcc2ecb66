import type { WorkItem } from '../site/model.ts';
import { AGENT_ACCOUNT } from '../site/people.ts';
import {
  type CallOptions,
  type Calls,
  type CallsEnvironment,
  createCalls,
  type RpcAnswer,
  type RpcOptions,
} from './calls.ts';
import { type FollowOptions, type FollowResult, followStream } from './following.ts';
import { type LifecycleOptions, type LifecycleResult, sendLifecycle } from './lifecycle.ts';
import {
  assignmentParams,
  automationParams,
  chatParams,
  type MessageIds,
  type MessageParams,
  mentionParams,
} from './messages.ts';
import { type PollOptions, type PollResult, pollTask } from './polling.ts';
import { readStream, type StreamOptions, type StreamResult } from './streams.ts';

/** Something a person did that Jira tells the agent. Sending it twice sends the same message with new tokens. */
export interface Invocation {
  readonly params: MessageParams;
  readonly messageId: string;
  /** SendMessage: one answer within Jira's 55 s. */
  sync(options?: RpcOptions): Promise<RpcAnswer>;
  /** SendMessage, then GetTask until the task is over or waits for the person. */
  run(options?: PollOptions): Promise<PollResult>;
  /** SendStreamingMessage, one connection. */
  stream(options?: StreamOptions): Promise<StreamResult>;
  /** SendStreamingMessage, then SubscribeToTask as often as it takes. */
  follow(options?: FollowOptions): Promise<FollowResult>;
}

export interface InvocationOptions extends CallOptions, MessageIds {
  /** Sends it although that person could not do it in Jira: the data part names the item and nothing of it. */
  readonly force?: boolean;
}

/** Jira as the client of one remote agent. Every call carries a new invocation token and the person's OAuth token. */
export interface JiraClient {
  assign(issueKey: string, options?: InvocationOptions): Invocation;
  /** Adds the comment to the work item and tells the agent. `[@Agent](~id)` is put in front when the body mentions nobody. */
  mention(issueKey: string, body: string, options?: InvocationOptions): Invocation;
  chat(text: string, options?: InvocationOptions): Invocation;
  automation(prompt: string, options?: InvocationOptions): Invocation;
  poll(taskId: string, options?: PollOptions): Promise<PollResult>;
  get(taskId: string, options?: RpcOptions): Promise<RpcAnswer>;
  cancel(taskId: string, options?: RpcOptions): Promise<RpcAnswer>;
  subscribe(taskId: string, options?: StreamOptions): Promise<StreamResult>;
  /** Any call, with anything about it changed. */
  rpc(method: string, params: unknown, options?: RpcOptions): Promise<RpcAnswer>;
  /** Any streaming call. */
  streamRpc(method: string, params: unknown, options?: StreamOptions): Promise<StreamResult>;
  install(options?: LifecycleOptions): Promise<LifecycleResult>;
  upgrade(options?: LifecycleOptions): Promise<LifecycleResult>;
  /** Sends preUninstall. The site keeps its installation id until `site.reinstall()`. */
  uninstall(options?: LifecycleOptions): Promise<LifecycleResult>;
}

const MAX_LISTED = 20;

export const AGENT_MENTION = `[@${AGENT_ACCOUNT.displayName}](~${AGENT_ACCOUNT.accountId})`;

export function createJiraClient(environment: CallsEnvironment): JiraClient {
  const calls = createCalls(environment);

  const itemFor = (issueKey: string, options: InvocationOptions): WorkItem => {
    const { records } = calls.siteOf(options);
    const viewer = records.person(calls.personOf(options));
    const item = records.item(issueKey);
    const seen = records.search(viewer, []).map(({ key }) => key);
    const others = `${viewer.name} sees ${seen.length === 0 ? 'none' : seen.slice(0, MAX_LISTED).join(', ')}`;
    if (!item) throw new Error(`no work item ${issueKey} on this site; ${others}`);
    if (records.visible(viewer, issueKey)) return item;
    if (!options.force)
      throw new Error(`${viewer.name} cannot see ${issueKey}: Jira would not let them do that; ${others}`);
    return { ...item, summary: '', description: null };
  };
  const people = (options: InvocationOptions) => ({
    user: calls.siteOf(options).records.person(calls.personOf(options)),
    agent: AGENT_ACCOUNT,
  });

  return {
    assign(issueKey, options = {}) {
      const item = itemFor(issueKey, options);
      if (!options.force) calls.siteOf(options).records.change(item.key, { assignee: AGENT_ACCOUNT.accountId });
      return createInvocation(calls, assignmentParams({ ...people(options), item }, options), options);
    },
    mention(issueKey, body, options = {}) {
      const item = itemFor(issueKey, options);
      const written = body.includes('](~') ? body : `${AGENT_MENTION} ${body}`;
      const comment = calls.siteOf(options).records.comment(item.key, calls.personOf(options), written);
      return createInvocation(
        calls,
        mentionParams({ ...people(options), item, comment, body: written }, options),
        options,
      );
    },
    chat: (text, options = {}) => createInvocation(calls, chatParams(text, options), options),
    automation: (prompt, options = {}) =>
      createInvocation(calls, automationParams({ ...people(options), prompt }, options), options),
    poll: (taskId, options) => pollTask(calls, taskId, options),
    get: (taskId, options) => calls.rpc('GetTask', { tenant: '', id: taskId }, options),
    cancel: (taskId, options) => calls.rpc('CancelTask', { tenant: '', id: taskId }, options),
    subscribe: (taskId, options) =>
      readStream(calls, { method: 'SubscribeToTask', params: { tenant: '', id: taskId } }, options),
    rpc: (method, params, options) => calls.rpc(method, params, options),
    streamRpc: (method, params, options) => readStream(calls, { method, params }, options),
    install: (options) => sendLifecycle(calls, 'installed', options),
    upgrade: (options) => sendLifecycle(calls, 'upgraded', options),
    uninstall: (options) => sendLifecycle(calls, 'preUninstall', options),
  };
}

function callOptions(options: InvocationOptions): CallOptions {
  const { messageId: _m, contextId: _c, taskId: _t, force: _f, ...call } = options;
  return call;
}

function createInvocation(calls: Calls, params: MessageParams, options: InvocationOptions): Invocation {
  const call = callOptions(options);
  const streaming = { method: 'SendStreamingMessage', params };
  return {
    params,
    messageId: params.message.messageId,
    sync: (more) => calls.rpc('SendMessage', params, { ...call, ...more }),
    stream: (more) => readStream(calls, streaming, { ...call, ...more }),
    follow: (more) => followStream(calls, streaming, { ...call, ...more }),
    async run(more = {}) {
      const { userToken, onTask, onMiss: _m, until, intervalMs: _i, limitMs: _l, ...rest } = more;
      const first = typeof userToken === 'function' ? userToken(0) : userToken;
      const sent = await calls.rpc('SendMessage', params, { ...call, ...rest, ...(first ? { userToken: first } : {}) });
      const { task, faults } = sent;
      if (!task) {
        const outcome = sent.message ? 'settled' : sent.timedOut ? 'limit' : 'refused';
        const { status, error, message } = sent;
        const seen = { ...(error ? { error } : {}), ...(message ? { message } : {}) };
        return { states: [], polls: 0, missed: 0, faults, outcome, status, ...seen };
      }
      onTask?.(task);
      const polled = await pollTask(calls, task.id, {
        ...call,
        ...more,
        ...(typeof userToken === 'function' ? { userToken: (poll: number) => userToken(poll + 1) } : {}),
        ...(until ? { until } : {}),
      });
      const before = polled.states[0] === task.status.state ? [] : [task.status.state];
      return { ...polled, states: [...before, ...polled.states], faults: [...faults, ...polled.faults] };
    },
  };
}
