/**
 * Every metric that the service counts: `a2a_<noun>_<unit>`. Labels hold values from small fixed sets only, never an
 * id, a tenant or a user. docs/operations.md shows this table; tests compare it with that page and with the code.
 */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  /** Histograms only: upper bounds, in the metric's unit. */
  readonly buckets?: readonly number[];
}

export const METRICS: Readonly<Record<string, MetricDefinition>> = {
  a2a_requests_total: {
    type: 'counter',
    help: 'Calls that were answered, by edge, method and outcome: ok, an error code, an HTTP or gRPC status, or how a stream ended.',
    labels: ['edge', 'method', 'outcome'],
  },
  a2a_request_seconds: {
    type: 'histogram',
    help: 'From the headers of a call to the end of its answer; for a stream, its whole life.',
    labels: ['edge', 'method'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900],
  },
  a2a_open_streams: { type: 'gauge', help: 'Event streams that are open in this process.', labels: ['edge'] },
  a2a_stream_ends_total: {
    type: 'counter',
    help: 'Event streams that ended, by reason.',
    labels: ['edge', 'reason'],
  },
  a2a_messages_accepted_total: {
    type: 'counter',
    help: 'Messages that were committed, by what they did: create, continue or repeat.',
    labels: ['edge', 'kind'],
  },
  a2a_refusals_total: {
    type: 'counter',
    help: 'What was refused because there is too much, by the name of the bound (see Limits).',
    labels: ['limit'],
  },
  a2a_turns_running: { type: 'gauge', help: 'Turns that this process runs now.', labels: [] },
  a2a_turns_lost_total: {
    type: 'counter',
    help: 'Turns whose process died or hung, by the recovery policy that took over.',
    labels: ['recovery'],
  },
  a2a_agents_left_over_total: {
    type: 'counter',
    help: 'Agents that went on after they were stopped; their slot was freed without them.',
    labels: [],
  },
  a2a_executions_waiting: { type: 'gauge', help: 'Turns that wait for a free runner.', labels: [] },
  a2a_executions_leased: { type: 'gauge', help: 'Turns that a runner holds, over all processes.', labels: [] },
  a2a_executions_oldest_seconds: { type: 'gauge', help: 'How long the oldest waiting turn has waited.', labels: [] },
  a2a_store_commits_total: {
    type: 'counter',
    help: 'Transactions that were committed. Operations that arrive together share one.',
    labels: [],
  },
  a2a_store_busy_total: {
    type: 'counter',
    help: 'Transactions that found the database locked and were tried again.',
    labels: [],
  },
  a2a_operator_acts_total: {
    type: 'counter',
    help: 'Acts of operators that this process has seen in the audit, each process by itself.',
    labels: ['act'],
  },
  a2a_store_failures_total: {
    type: 'counter',
    help: 'Operations that the store refused because it could not be used, by what was wrong.',
    labels: ['reason'],
  },
  a2a_store_available: {
    type: 'gauge',
    help: 'Whether the store can be used: 1, or 0 from its first failure until it has worked again for some seconds.',
    labels: [],
  },
  a2a_jira_calls_total: {
    type: 'counter',
    help: 'Calls to Jira, by outcome: ok, unauthorized or why Jira refused.',
    labels: ['call', 'outcome'],
  },
  a2a_jira_call_seconds: {
    type: 'histogram',
    help: 'How long one call to Jira took, each repetition by itself.',
    labels: ['call'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  a2a_jwks_fetches_total: {
    type: 'counter',
    help: 'Fetches of a key set, by outcome: ok or failed.',
    labels: ['outcome'],
  },
};
