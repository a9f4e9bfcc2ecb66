import type { Json } from './message.ts';
import type { Decide, Transition } from './ports/decide.ts';
import type { Accepted, Claims, TaskStore, Updated } from './ports/task-store.ts';
import type { LogFields, Telemetry } from './ports/telemetry.ts';

/*
 * The store's writes as their users see them: every change of a task's state is said in the log, and every commit is a
 * span. The store tells of each change that it has committed, so no rule and no operation can forget it.
 */

/** Writes that can change a task's state, or that a trace should show. */
export type ObservedStore = Pick<
  TaskStore,
  'accept' | 'update' | 'claim' | 'beginStep' | 'endStep' | 'renewCredential'
>;

/** On whose behalf the store is used. Read at each use. */
export interface Observer {
  readonly telemetry: Telemetry;
  /** Go along with everything that is said. */
  readonly fields?: LogFields;
  /** Trace that commits belong to when the code around them is in none. */
  readonly parent?: string | undefined;
}

export function observeStore(store: ObservedStore, observer: Observer): ObservedStore {
  return new WatchedStore(store, observer);
}

type Of<K extends keyof ObservedStore> = Parameters<ObservedStore[K]>;

/** A class, because every message has two, and a closure for each method would be a kilobyte of garbage. */
class WatchedStore implements ObservedStore {
  private readonly store: ObservedStore;
  private readonly observer: Observer;

  constructor(store: ObservedStore, observer: Observer) {
    this.store = store;
    this.observer = observer;
  }

  async accept(...[request, decide]: Of<'accept'>): Promise<Accepted> {
    const transitions: Transition[] = [];
    const accepted = await this.store.accept(
      request,
      watched(decide, (transition) => void transitions.push(transition)),
    );
    const { telemetry, fields } = this.observer;
    const { id: taskId, contextId } = accepted.record;
    telemetry.event('info', 'task.accepted', { taskId, contextId, kind: accepted.kind, ...fields });
    // Behind the message that has brought the task there.
    for (const transition of transitions) say(this.observer, transition);
    return accepted;
  }

  update(...[request, decide]: Of<'update'>): Promise<Updated> {
    const work = () => this.store.update(request, this.watched(decide));
    return this.commit('update', { taskId: request.taskId }, work);
  }

  /** No span: it is asked every second whether there is work or not, and a turn has its own. */
  claim(...[request, begin]: Of<'claim'>): Promise<Claims> {
    return this.store.claim(request, this.watched(begin));
  }

  beginStep(...[fence, key]: Of<'beginStep'>): ReturnType<ObservedStore['beginStep']> {
    return this.commit('step-begin', { taskId: fence.taskId }, () => this.store.beginStep(fence, key));
  }

  endStep(...[fence, key, value]: Of<'endStep'>): Promise<Json> {
    return this.commit('step-end', { taskId: fence.taskId }, () => this.store.endStep(fence, key, value));
  }

  renewCredential(
    ...[subject, credential, resume]: Of<'renewCredential'>
  ): ReturnType<ObservedStore['renewCredential']> {
    return this.commit('renew', {}, () => this.store.renewCredential(subject, credential, this.watched(resume)));
  }

  private watched<V extends readonly unknown[], R>(decide: Decide<V, R>): Decide<V, R> {
    return watched(decide, (transition) => say(this.observer, transition));
  }

  private commit<T>(call: string, fields: LogFields, work: () => Promise<T>): Promise<T> {
    const { telemetry, parent, fields: common } = this.observer;
    return telemetry.span('store.commit', { parent, fields: () => ({ ...common, ...fields, call }) }, work);
  }
}

function say({ telemetry, fields }: Observer, { taskId, contextId, owner, from, to, turn }: Transition): void {
  telemetry.event('info', 'task.transition', {
    taskId,
    contextId,
    tenant: owner.tenant,
    principal: owner.principal,
    from,
    to,
    ...fields,
    ...(turn && { turn: turn.ordinal, attempt: turn.attempt, trace: turn.trace }),
  });
}

/** The same rule, whose transitions are told to `moved`. */
function watched<V extends readonly unknown[], R>(
  decide: Decide<V, R>,
  moved: (transition: Transition) => void,
): Decide<V, R> {
  const { rule } = decide;
  return Object.assign((...view: V) => decide(...view), rule ? { rule, moved } : { moved });
}
