import type { Decide, Transition } from './ports/decide.ts';
import type { TaskStore } from './ports/task-store.ts';
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
  function say({ taskId, contextId, owner, from, to, turn }: Transition): void {
    observer.telemetry.event('info', 'task.transition', {
      taskId,
      contextId,
      tenant: owner.tenant,
      principal: owner.principal,
      ...observer.fields,
      ...(turn && { turn: turn.ordinal, attempt: turn.attempt, trace: turn.trace }),
      from,
      to,
    });
  }

  function watched<V extends readonly unknown[], R>(decide: Decide<V, R>, moved = say): Decide<V, R> {
    const { rule } = decide;
    return Object.assign((...view: V) => decide(...view), rule ? { rule, moved } : { moved });
  }

  function commit<T>(call: string, fields: LogFields, work: () => Promise<T>): Promise<T> {
    const { telemetry, parent } = observer;
    const said = () => ({ ...observer.fields, ...fields, call });
    return telemetry.span('store.commit', { parent, fields: said }, work);
  }

  return {
    accept: async (request, decide) => {
      const transitions: Transition[] = [];
      const decideHere = watched(decide, (transition) => void transitions.push(transition));
      const accepted = await store.accept(request, decideHere);
      const { id: taskId, contextId } = accepted.record;
      observer.telemetry.event('info', 'task.accepted', { taskId, contextId, ...observer.fields, kind: accepted.kind });
      // Behind the message that has brought the task there.
      for (const transition of transitions) say(transition);
      return accepted;
    },
    update: (request, decide) =>
      commit('update', { taskId: request.taskId }, () => store.update(request, watched(decide))),
    // No span: it is asked every second whether there is work or not, and a turn has its own.
    claim: (request, begin) => store.claim(request, watched(begin)),
    beginStep: (fence, key) => commit('step-begin', { taskId: fence.taskId }, () => store.beginStep(fence, key)),
    endStep: (fence, key, value) =>
      commit('step-end', { taskId: fence.taskId }, () => store.endStep(fence, key, value)),
    renewCredential: (subject, credential, resume) =>
      commit('renew', {}, () => store.renewCredential(subject, credential, watched(resume))),
  };
}
