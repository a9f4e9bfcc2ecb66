import type { JsonObject } from '../../core/message.ts';
import type { Fingerprint } from './large-text.ts';

export type EdgeName = 'a2a' | 'rovo';
/** As the agent card spells it. */
export type BindingName = 'JSONRPC' | 'HTTP+JSON' | 'GRPC';

/** One way to the service, on which a client plays all its scenarios. */
export interface Route {
  readonly edge: EdgeName;
  readonly binding: BindingName;
  readonly protocol: '1.0' | '0.3';
}

/*
 * What every client does on an edge, in this order; the program of each client implements each name. Jira's edge has the
 * five operations that Jira calls, so nothing is listed there.
 */
export const SCENARIOS = {
  a2a: {
    card: 'reads the agent card and finds the binding and the version on it',
    send: 'SendMessage answers the completed task with its artifact',
    poll: 'SendMessage answers at once, a second message goes to the running task, GetTask reaches the end',
    stream: 'a stream begins with the task, brings the artifact and ends with the terminal status',
    resubscribe: 'a stream dropped in the middle is resumed by SubscribeToTask with nothing missing or doubled',
    get: 'GetTask answers the task, its history as long as asked for',
    list: 'ListTasks filters by context, newest first, without artifacts',
    page: 'ListTasks pages, with artifacts when asked',
    cancel: 'CancelTask ends a running task, and GetTask agrees',
    errors: 'an unknown task and the cancellation of a finished one are refused with the errors of the specification',
    'finished-stream': 'SubscribeToTask on a finished task is refused as not supported',
    'follow-up': 'INPUT_REQUIRED is answered in the same task and context',
    large: 'an artifact of 300 kB in many chunks is the same text when put together again, streamed and fetched',
    quiet: 'a stream that says nothing for 8 s stays open with the default timeouts of the client',
  },
  rovo: {
    poll: 'SendMessage answers before its wait ends, GetTask reaches the end',
    stream: 'a stream begins with the task, brings the artifact and ends with the terminal status',
    resubscribe: 'a stream dropped in the middle is resumed by SubscribeToTask with nothing missing or doubled',
    cancel: 'CancelTask ends a running task, and GetTask agrees',
    errors: 'an unknown task and the cancellation of a finished one are refused with the errors of the specification',
    'finished-stream': 'SubscribeToTask on a finished task shows it once and ends',
    'follow-up': 'INPUT_REQUIRED is answered in the same task and context',
    large: 'an artifact of 300 kB in many chunks is the same text when put together again, streamed and fetched',
  },
} as const satisfies Record<EdgeName, Readonly<Record<string, string>>>;

/** 0.3 has no list. */
const SINCE_1_0: readonly string[] = ['list', 'page'];

/** Names and promises. */
export function scenariosOf({ edge, protocol }: Route): readonly (readonly [name: string, promise: string])[] {
  return Object.entries(SCENARIOS[edge]).filter(([name]) => protocol === '1.0' || !SINCE_1_0.includes(name));
}

/**
 * What a client cannot do for a reason of its own, by language, edge, binding and scenario. Skipped as long as it fails;
 * one that passes has to leave this list.
 */
const GO_SCOPES =
  'a2a-go 2.3.1 parses the scopes of a security requirement as a list; a2a.proto has an object with `list` there';
const JAVA_PAGE =
  'a2a-java-sdk 1.2.0 takes no page that is not full: it wants pageSize to be the number of tasks, the examples of ' +
  'the specification show the size asked for';
const KNOWN_FAULTS: Readonly<Record<string, string>> = {
  'Go a2a JSONRPC card': GO_SCOPES,
  'Go a2a HTTP+JSON card': GO_SCOPES,
  'Go a2a GRPC card': GO_SCOPES,
  'Java a2a JSONRPC list': JAVA_PAGE,
  'Java a2a HTTP+JSON get':
    'a2a-java-sdk 1.2.0 pads the number in `?historyLength= 1` with a blank, which is no address then',
  'Go a2a JSONRPC finished-stream':
    'a2a-go 2.3.1 reads nothing but data lines from the answer to a streaming call, so an error as plain JSON is lost',
};

export function faultOf(language: string, { edge, binding }: Route, name: string): string | undefined {
  return KNOWN_FAULTS[`${language} ${edge} ${binding} ${name}`];
}

/** The one argument of a client program, as JSON. */
export interface ClientInput {
  readonly edge: EdgeName;
  readonly binding: BindingName;
  /** `/.well-known/agent-card.json` below it is the card to start from. */
  readonly cardBase: string;
  /** GET answers the headers of one call as a JSON object; asked anew for each call. */
  readonly headersUrl: string;
  readonly scenarios: readonly string[];
  /** Goes as a data part with the first message of each task, as Jira sends it. */
  readonly data: JsonObject | null;
  readonly large: Fingerprint;
}

/** One line of a client program's output. `client` comes first, once. */
export type ClientLine =
  | { readonly client: string; readonly version: string; readonly runtime: string }
  | { readonly scenario: string; readonly ok: boolean; readonly detail: string };
