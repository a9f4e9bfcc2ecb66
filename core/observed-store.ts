import type { Change, TaskRecord, TaskStore, TaskView } from './ports/task-store.ts';
import type { LogFields, Telemetry } from './ports/telemetry.ts';
import type { TaskState } from './task.ts';

/*
 * The store's writes as their users see them: every change of a task's state is said in the log, and every commit is a
 * span. It is done here, where a decide function's answer passes by, so that no rule and no operation can forget it.
 * Nothing is said before the commit: a decide function may run for a transaction that is rolled back, and then again.
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

interface Transition {
  readonly record: TaskRecord;
  readonly to: TaskState;
  readonly turn?: LogFields;
}

/** Undefined unless the change ends in another state than it began. */
function transitionOf(view: TaskView, change: Change | undefined, turn?: LogFields): Transition | undefined {
  const to = change?.status?.state;
  if (to === undefined || to === view.record.status.state) return undefined;
  return { record: view.record, to, ...(turn ? { turn } : {}) };
}

export function observeStore(store: ObservedStore, observer: Observer): ObservedStore {
  function say({ record, to, turn }: Transition): void {
    const { id: taskId, contextId, owner, status } = record;
    observer.telemetry.event('info', 'task.transition', {
      taskId,
      contextId,
      tenant: owner.tenant,
      principal: owner.principal,
      ...observer.fields,
      ...turn,
      from: status.state,
      to,
    });
  }

  function commit<T>(call: string, fields: LogFields, work: () => Promise<T>): Promise<T> {
    const { telemetry, parent } = observer;
    const said = () => ({ ...observer.fields, ...fields, call });
    return telemetry.span('store.commit', { parent, fields: said }, work);
  }

  return {
    accept: async (request, decide) => {
      let seen: Transition | undefined;
      const accepted = await store.accept(request, (view) => {
        const decision = decide(view);
        const target = [view.task, view.active].find(
          (task) => 'taskId' in decision && task?.record.id === decision.taskId,
        );
        seen = target && decision.kind === 'continue' ? transitionOf(target, decision.change) : undefined;
        return decision;
      });
      if (seen) say(seen);
      return accepted;
    },

    update: (request, decide) =>
      commit('update', { taskId: request.taskId }, async () => {
        let seen: Transition | undefined;
        const updated = await store.update(request, (view) => {
          const change = decide(view);
          seen = transitionOf(view, change);
          return change;
        });
        if (seen) say(seen);
        return updated;
      }),

    // No span: it is asked every second whether there is work or not, and a turn has its own.
    claim: async (request, begin) => {
      const seen = new Map<string, Transition>();
      const claimed = await store.claim(request, (view, execution) => {
        const change = begin(view, execution);
        const transition = transitionOf(view, change, { turn: execution.ordinal, attempt: execution.attempt });
        if (transition) seen.set(view.record.id, transition);
        return change;
      });
      for (const [taskId, transition] of seen) {
        const trace = claimed.find(({ fence }) => fence.taskId === taskId)?.trace;
        say({ ...transition, turn: { ...transition.turn, trace } });
      }
      return claimed;
    },

    beginStep: (fence, key) => commit('step-begin', { taskId: fence.taskId }, () => store.beginStep(fence, key)),
    endStep: (fence, key, value) =>
      commit('step-end', { taskId: fence.taskId }, () => store.endStep(fence, key, value)),

    renewCredential: (subject, credential, resume) =>
      commit('renew', {}, async () => {
        const seen = new Map<string, Transition>();
        const renewed = await store.renewCredential(subject, credential, (view) => {
          const change = resume(view);
          const transition = transitionOf(view, change);
          if (transition) seen.set(view.record.id, transition);
          return change;
        });
        for (const taskId of renewed.resumed) {
          const transition = seen.get(taskId);
          if (transition) say(transition);
        }
        return renewed;
      }),
  };
}
