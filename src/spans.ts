import { SpanKind } from '@opentelemetry/api';

/**
 * Every span that the service records. Attributes have the names and the rules of the log's fields. docs/operations.md
 * shows this table; tests compare it with that page, with the code and with what is recorded.
 */
export interface SpanDefinition {
  readonly help: string;
  readonly kind: SpanKind;
  readonly attributes: readonly string[];
}

const CALL = ['tenant', 'principal', 'binding', 'version'] as const;
const REFUSED = ['code'] as const;

function operation(help: string, attributes: readonly string[] = ['taskId']): SpanDefinition {
  return { help, kind: SpanKind.INTERNAL, attributes: [...CALL, ...attributes, ...REFUSED] };
}

export const SPANS: Readonly<Record<string, SpanDefinition>> = {
  'http.request': {
    help: 'One request at an edge, from its headers to the end of its answer; for a stream, until it is open.',
    kind: SpanKind.SERVER,
    attributes: ['path', 'status', 'code'],
  },
  'grpc.request': {
    help: 'The same over gRPC, from the end of the request.',
    kind: SpanKind.SERVER,
    attributes: ['method', 'outcome', 'code'],
  },
  SendMessage: operation('The operation, with its wait.'),
  SendStreamingMessage: operation('The operation until its stream begins.'),
  GetTask: operation('The operation.'),
  ListTasks: operation('The operation.', []),
  CancelTask: operation('The operation.'),
  SubscribeToTask: operation('The operation until its stream begins.'),
  'store.commit': {
    help: 'One write, from asking for it until it is on disk. `call` says which: accept, update, renew, step-begin, step-end.',
    kind: SpanKind.INTERNAL,
    attributes: ['call', ...CALL, 'taskId', 'contextId', 'kind', 'turn', 'attempt', 'recovery', ...REFUSED],
  },
  'agent.turn': {
    help: 'One attempt of an agent to answer one message, child of the commit that accepted the message.',
    kind: SpanKind.CONSUMER,
    attributes: [
      ...['tenant', 'principal', 'taskId', 'contextId', 'turn', 'attempt', 'recovery'],
      ...['transition', 'outcome', 'reason', 'code'],
    ],
  },
  'jira.call': {
    help: 'One call to Jira, each repetition by itself.',
    kind: SpanKind.CLIENT,
    attributes: ['call', 'attempt', 'status', 'code'],
  },
};
