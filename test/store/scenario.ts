import assert from 'node:assert/strict';
import { isDomainError } from '../../core/errors.ts';
import type { EventBody } from '../../core/event.ts';
import type { Message } from '../../core/message.ts';
import type {
  AcceptDecision,
  Accepted,
  AcceptRequest,
  AcceptView,
  ArtifactWrite,
  Change,
  Claimed,
  Fence,
  TaskView,
} from '../../core/ports/task-store.ts';
import type { Credential } from '../../core/ports/vault.ts';
import type { Owner } from '../../core/principal.ts';
import type { TaskState, TaskStatus } from '../../core/task.ts';
import type { Subject } from './subject.ts';

/** What the contract does to a store, in as few words as a decide function allows. */

export const ALICE: Owner = { tenant: 'rovo:site-one', principal: '557058:alice', agent: 'agent' };
export const BOB: Owner = { ...ALICE, principal: '557058:bob' };
export const LEASE_MS = 30_000;
export const LEASE = { worker: 'worker-1', leaseMs: LEASE_MS };

export function status(state: TaskState, at: number, text?: string): TaskStatus {
  return {
    state,
    ...(text === undefined ? {} : { message: { messageId: `s-${text}`, role: 'ROLE_AGENT', parts: [{ text }] } }),
    timestamp: new Date(at).toISOString(),
  };
}

export function message(text: string): Message {
  return { messageId: `m-${text}`, role: 'ROLE_USER', parts: [{ text }] };
}

export interface TaskOptions {
  readonly id: string;
  readonly contextId?: string;
  readonly text?: string;
  readonly exclusive?: boolean;
  readonly state?: TaskState;
  readonly change?: Change;
}

export function create(view: { readonly now: number }, options: TaskOptions): AcceptDecision {
  const { id, contextId = `context-of-${id}`, text = 'hello', exclusive = false } = options;
  const first = status(options.state ?? 'TASK_STATE_SUBMITTED', view.now);
  return {
    kind: 'create',
    task: { id, contextId },
    exclusive,
    answer: 'task',
    change: {
      status: first,
      messages: [message(text)],
      events: [{ task: { id, contextId, status: first } }],
      executions: [{ open: 1 }],
      ...options.change,
    },
  };
}

export interface AcceptOptions extends TaskOptions {
  readonly owner?: Owner;
  readonly key?: string;
  readonly credential?: Credential;
}

export function requestFor(options: AcceptOptions): AcceptRequest {
  const { owner = ALICE, key, credential } = options;
  return {
    owner,
    ...(key === undefined ? {} : { key: { contextId: '', messageId: key, fingerprint: `print of ${options.text}` } }),
    ...(options.contextId === undefined ? {} : { contextId: options.contextId }),
    ...(credential === undefined ? {} : { credential }),
  };
}

/** Creates a task, or repeats what the key stands for. */
export function accept({ store }: Subject, options: AcceptOptions): Promise<Accepted> {
  return store.accept(requestFor(options), (view) => (view.repeat ? { kind: 'repeat' } : create(view, options)));
}

export function leased(options: AcceptOptions): AcceptRequest {
  return { ...requestFor(options), lease: LEASE };
}

/** As the rules do: the turn of a new task begins where the store says that it may. */
export function decideBegun(options: AcceptOptions, trace?: string) {
  return (view: Parameters<Parameters<Subject['store']['accept']>[1]>[0]): AcceptDecision => {
    if (view.repeat) return { kind: 'repeat' };
    const decision = create(view, options);
    assert(decision.kind === 'create');
    const { id, contextId } = decision.task;
    const next = status('TASK_STATE_WORKING', view.now);
    return {
      ...decision,
      change: { ...decision.change, executions: [trace === undefined ? { open: 1 } : { open: 1, trace }] },
      ...(view.free
        ? { begin: { status: next, events: [{ statusUpdate: { taskId: id, contextId, status: next } }] } }
        : {}),
    };
  };
}

export function begin({ store }: Subject, options: AcceptOptions): Promise<Accepted> {
  return store.accept(leased(options), decideBegun(options));
}

/** What decide gets to see; nothing is written. */
export async function peekAccept({ store }: Subject, request: AcceptRequest): Promise<AcceptView> {
  let seen: AcceptView | undefined;
  const stop = new Error('seen enough');
  await assert.rejects(
    store.accept(request, (view) => {
      seen = view;
      throw stop;
    }),
    { message: stop.message },
  );
  assert(seen);
  return seen;
}

export function statusEvent(view: TaskView, next: TaskStatus): EventBody {
  return { statusUpdate: { taskId: view.record.id, contextId: view.record.contextId, status: next } };
}

export function become(view: TaskView, state: TaskState, more: Change = {}): Change {
  const next = status(state, view.now);
  return { status: next, events: [statusEvent(view, next)], ...more };
}

/** Ends the task and every open turn. */
export function finish(view: TaskView, state: TaskState = 'TASK_STATE_COMPLETED'): Change {
  return become(view, state, {
    executions: view.open.map(({ ordinal }) => ({ close: ordinal, outcome: 'done' })),
  });
}

/** Ends one turn and leaves the task waiting for its user. */
export function ask(view: TaskView, ordinal: number): Change {
  return become(view, 'TASK_STATE_INPUT_REQUIRED', { executions: [{ close: ordinal, outcome: 'done' }] });
}

export function followUp(view: TaskView, text: string): Change {
  return {
    messages: [message(text)],
    events: [{ message: message(text) }],
    executions: [{ open: view.record.messages + 1 }],
  };
}

export function end({ store }: Subject, taskId: string, state?: TaskState): Promise<unknown> {
  return store.update({ taskId }, (view) => finish(view, state));
}

export function say({ store }: Subject, taskId: string, text: string): Promise<unknown> {
  return store.update({ taskId }, (view) => followUp(view, text));
}

export async function claim({ store }: Subject, worker = 'worker-1', limit = 10): Promise<readonly Claimed[]> {
  return (await store.claim({ agent: 'agent', worker, leaseMs: LEASE_MS, limit }, () => undefined)).claimed;
}

export async function claimOne(subject: Subject, worker?: string): Promise<Claimed> {
  const [claimed, ...others] = await claim(subject, worker);
  assert(claimed, 'nothing was claimed');
  assert.equal(others.length, 0, 'more than one turn was claimed');
  return claimed;
}

export interface WriteOptions {
  readonly artifactId?: string;
  readonly text: string;
  readonly mode?: ArtifactWrite['mode'];
  readonly joined?: boolean;
}

export function artifactWrite(fence: Fence, options: WriteOptions): ArtifactWrite {
  return {
    mode: options.mode ?? 'append',
    artifactId: options.artifactId ?? 'answer',
    parts: options.mode === 'drop-lost' ? [] : [{ part: { text: options.text }, joined: options.joined ?? false }],
    ordinal: fence.ordinal,
    attempt: fence.attempt,
  };
}

/** An agent's chunk: one event, one part. */
export function write({ store }: Subject, fence: Fence, options: WriteOptions): Promise<unknown> {
  return store.update({ taskId: fence.taskId, fence }, (view) => ({
    artifacts: [artifactWrite(fence, options)],
    events: [
      {
        artifactUpdate: {
          taskId: view.record.id,
          contextId: view.record.contextId,
          artifact: { artifactId: options.artifactId ?? 'answer', parts: [{ text: options.text }] },
          append: options.mode === undefined,
        },
      },
    ],
  }));
}

export async function rejectsWith(promise: Promise<unknown>, code: Parameters<typeof isDomainError>[1]): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert(isDomainError(error), `not a DomainError: ${String(error)}`);
    assert.equal(error.code, code);
    return true;
  });
}

export async function sequences({ store }: Subject, taskId: string, owner = ALICE): Promise<readonly number[]> {
  return (await store.events(owner, taskId, 0, 10_000)).map((event) => event.sequence);
}
