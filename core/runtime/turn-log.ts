import type { Observer } from '../observed-store.ts';
import type { Claimed } from '../ports/task-store.ts';
import type { Level, LogFields, Span, Telemetry } from '../ports/telemetry.ts';

/**
 * What is said of one turn, each time with all that finds it again. The turn is one span, a child of the commit that
 * opened it, in whichever process it runs. A class, because properties that are computed cost 0.3 µs each in a literal,
 * and every turn has one.
 */
export class TurnLog implements Observer {
  readonly telemetry: Telemetry;
  private readonly recovery: string;
  private readonly claimed: Claimed;
  private trace: string | undefined;
  private span: Span | undefined;

  constructor(telemetry: Telemetry, claimed: Claimed, recovery: string) {
    this.telemetry = telemetry;
    this.claimed = claimed;
    this.recovery = recovery;
    this.trace = claimed.trace;
  }

  get fields(): LogFields {
    return this.saying();
  }

  get parent(): string | undefined {
    return this.trace;
  }

  event(level: Level, name: string, more?: LogFields, error?: unknown): void {
    this.telemetry.event(level, name, this.saying(more), error);
    // The last word is how the turn ended.
    if (name.startsWith('turn.')) this.span?.set({ outcome: name.slice('turn.'.length), ...more });
  }

  private saying(more?: LogFields): LogFields {
    const { fence, record } = this.claimed;
    const { taskId, ordinal: turn, attempt } = fence;
    const { tenant, principal } = record.owner;
    const { recovery, trace } = this;
    return { taskId, contextId: record.contextId, tenant, principal, turn, attempt, recovery, trace, ...more };
  }

  /** The attempt before this one was lost with its process. */
  lost(): void {
    this.event('warn', 'turn.lost');
    this.telemetry.count('a2a_turns_lost_total', { recovery: this.recovery });
  }

  /** The agent went on after it was stopped. */
  leftOver(): void {
    this.event('warn', 'agent.left_over');
    this.telemetry.count('a2a_agents_left_over_total');
  }

  /** Runs the turn, once. */
  run(work: () => Promise<void>): Promise<void> {
    return this.telemetry.span('agent.turn', { parent: this.trace, fields: () => this.fields }, (span) => {
      this.span = span;
      this.trace = span.traceparent ?? this.trace;
      return work();
    });
  }
}
