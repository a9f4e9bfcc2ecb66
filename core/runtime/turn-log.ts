import type { Observer } from '../observed-store.ts';
import type { Claimed } from '../ports/task-store.ts';
import type { Level, LogFields, Span, Telemetry } from '../ports/telemetry.ts';

/**
 * What is said of one turn, each time with all that finds it again. The turn is one span, a child of the commit that
 * opened it, in whichever process it runs.
 */
export interface TurnLog extends Observer {
  event(level: Level, name: string, more?: LogFields, error?: unknown): void;
  /** The attempt before this one was lost with its process. */
  lost(): void;
  /** The agent went on after it was stopped. */
  leftOver(): void;
  /** Runs the turn, once. */
  run(work: () => Promise<void>): Promise<void>;
}

export function createTurnLog(telemetry: Telemetry, { fence, record, trace }: Claimed, recovery: string): TurnLog {
  const { taskId, ordinal: turn, attempt } = fence;
  const { tenant, principal } = record.owner;
  let fields: LogFields = { taskId, contextId: record.contextId, tenant, principal, turn, attempt, recovery, trace };
  let parent = trace;
  let span: Span | undefined;
  const log: TurnLog = {
    telemetry,
    get fields() {
      return fields;
    },
    get parent() {
      return parent;
    },
    event(level, name, more, error) {
      telemetry.event(level, name, { ...fields, ...more }, error);
      // The last word is how the turn ended.
      if (name.startsWith('turn.')) span?.set({ ...more, outcome: name.slice('turn.'.length) });
    },
    lost() {
      log.event('warn', 'turn.lost');
      telemetry.count('a2a_turns_lost_total', { recovery });
    },
    leftOver() {
      log.event('warn', 'agent.left_over');
      telemetry.count('a2a_agents_left_over_total');
    },
    run: (work) =>
      telemetry.span('agent.turn', { parent: trace, fields: () => fields }, (own) => {
        span = own;
        parent = own.traceparent ?? trace;
        fields = { ...fields, trace: parent };
        return work();
      }),
  };
  return log;
}
