import type { SendCommand } from '../../core/decide/send.ts';
import type { EndCommand } from '../../core/decide/turn.ts';
import type { RuleCall } from '../../core/ports/decide.ts';
import type { AcceptRequest, UpdateRequest } from '../../core/ports/task-store.ts';
import type { Unfinished } from './column-values.ts';

/*
 * What every message asks the store's thread, by place: its acceptance, and the end of its turn. That goes there as JSON, which is
 * written and read in half the time without names and objects. What is absent is null in it. Other writes go as they are.
 */

/** A rule in the place of its decide function. */
export interface SentRule {
  readonly rule: RuleCall;
}

/** How what a method is given is sent, and made again of that. */
export interface SentArgs {
  send(args: readonly unknown[]): readonly unknown[];
  receive(sent: readonly unknown[]): readonly unknown[];
}

const SEND = 'send';
const END = 'end';

export const ACCEPT_ARGS: SentArgs = {
  send(args) {
    const [request, { rule }] = args as readonly [AcceptRequest, SentRule];
    return rule.name === SEND ? sentAccept(request, rule.data as SendCommand) : args;
  },
  receive: (sent) => (sent[0] === SEND ? receivedAccept(sent as unknown as SentAccept) : sent),
};

export const UPDATE_ARGS: SentArgs = {
  send(args) {
    const [request, { rule }] = args as readonly [UpdateRequest, SentRule];
    return (rule.name === END && sentEnd(request, rule.data as EndData)) || args;
  },
  receive: (sent) => (sent[0] === END ? receivedEnd(sent as unknown as SentEnd) : sent),
};

type Maybe<T> = T | null | undefined;
type Key = NonNullable<AcceptRequest['key']>;

type SentAccept = readonly [
  rule: typeof SEND,
  owner: readonly [tenant: string, principal: string, agent: string],
  key: Maybe<readonly [contextId: string, messageId: string, fingerprint: string]>,
  lease: Maybe<readonly [worker: string, leaseMs: number]>,
  rarely: readonly [
    ...[taskId: Maybe<string>, contextId: Maybe<string>],
    ...[credential: Maybe<AcceptRequest['credential']>, pushConfig: Maybe<AcceptRequest['pushConfig']>],
    ...[delegate: Maybe<string>, trace: Maybe<string>],
  ],
  command: readonly [
    ...[message: SendCommand['message'], fingerprint: string],
    ...[policy: SendCommand['policy'], answer: SendCommand['answer'], deadlineMs: number],
    ...[newTaskId: string, newContextId: string],
  ],
  queueMax: Maybe<readonly [tenant: number, everybody: number]>,
];

function sentAccept(request: AcceptRequest, command: SendCommand): SentAccept {
  const { owner, key, lease, taskId, contextId, credential, pushConfig } = request;
  const { message, fingerprint, policy, answer, deadlineMs, newTaskId, newContextId } = command;
  const { delegate, trace, queueMax } = command;
  return [
    SEND,
    [owner.tenant, owner.principal, owner.agent],
    key && [key.contextId, key.messageId, key.fingerprint],
    lease && [lease.worker, lease.leaseMs],
    [taskId, contextId, credential, pushConfig, delegate, trace],
    [message, fingerprint, policy, answer, deadlineMs, newTaskId, newContextId],
    queueMax && [queueMax.tenant, queueMax.everybody],
  ];
}

function receivedAccept(sent: SentAccept): readonly [AcceptRequest, SentRule] {
  const [, [tenant, principal, agent], key, lease, rarely, made, queueMax] = sent;
  const [taskId, contextId, credential, pushConfig, delegate, trace] = rarely;
  const [message, fingerprint, policy, answer, deadlineMs, newTaskId, newContextId] = made;
  const request: Unfinished<AcceptRequest> = { owner: { tenant, principal, agent } };
  if (key) request.key = { contextId: key[0], messageId: key[1], fingerprint: key[2] } satisfies Key;
  if (lease) request.lease = { worker: lease[0], leaseMs: lease[1] };
  if (typeof taskId === 'string') request.taskId = taskId;
  if (typeof contextId === 'string') request.contextId = contextId;
  if (credential) request.credential = credential;
  if (pushConfig) request.pushConfig = pushConfig;
  const data: Unfinished<SendCommand> = {
    message,
    fingerprint,
    policy,
    answer,
    deadlineMs,
    newTaskId,
    newContextId,
  };
  if (typeof delegate === 'string') data.delegate = delegate;
  if (typeof trace === 'string') data.trace = trace;
  if (queueMax) data.queueMax = { tenant: queueMax[0], everybody: queueMax[1] };
  return [request, { rule: { name: SEND, data } }];
}

interface EndData {
  readonly writer: { readonly ordinal: number; readonly attempt: number };
  readonly command: EndCommand;
}

type SentEnd = readonly [
  rule: typeof END,
  fence: readonly [taskId: string, ordinal: number, worker: string, attempt: number],
  request: readonly [pendingAfter: Maybe<number>, lostArtifacts: Maybe<boolean>],
  writer: readonly [ordinal: number, attempt: number],
  command: readonly [
    ...[
      state: EndCommand['state'],
      reply: boolean,
      taken: readonly number[],
      left: readonly number[],
      parkedMaxMs: number,
    ],
    ...[
      saying: Maybe<EndCommand['saying']>,
      unsaid: Maybe<EndCommand['unsaid']>,
      metadata: Maybe<EndCommand['metadata']>,
    ],
  ],
];

/** Undefined: it is none of a turn that ends itself. */
function sentEnd(request: UpdateRequest, { writer, command }: EndData): SentEnd | undefined {
  const { taskId, owner, fence, pendingAfter, artifactIds, lostArtifacts } = request;
  if (owner || artifactIds || fence?.taskId !== taskId) return undefined;
  const { state, reply, taken, left, parkedMaxMs, saying, unsaid, metadata } = command;
  return [
    END,
    [taskId, fence.ordinal, fence.worker, fence.attempt],
    [pendingAfter, lostArtifacts],
    [writer.ordinal, writer.attempt],
    [state, reply, taken, left, parkedMaxMs, saying, unsaid, metadata],
  ];
}

function receivedEnd(sent: SentEnd): readonly [UpdateRequest, SentRule] {
  const [, [taskId, ordinal, worker, attempt], [pendingAfter, lostArtifacts], writer, ended] = sent;
  const [state, reply, taken, left, parkedMaxMs, saying, unsaid, metadata] = ended;
  const request: Unfinished<UpdateRequest> = { taskId, fence: { taskId, ordinal, worker, attempt } };
  if (typeof pendingAfter === 'number') request.pendingAfter = pendingAfter;
  if (typeof lostArtifacts === 'boolean') request.lostArtifacts = lostArtifacts;
  const command: Unfinished<EndCommand> = { state, reply, taken, left, parkedMaxMs };
  if (saying) command.saying = saying;
  if (unsaid) command.unsaid = unsaid;
  if (metadata) command.metadata = metadata;
  const data: EndData = { writer: { ordinal: writer[0], attempt: writer[1] }, command };
  return [request, { rule: { name: END, data } }];
}
