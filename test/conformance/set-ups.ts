/*
 * What the suite is run over: every binding in every set-up, by callers without and with credentials. One more binding
 * is one more row.
 */

/** What the agent card offers; decides which tests can say nothing. */
export interface Offer {
  readonly streaming: boolean;
  readonly push: boolean;
  readonly extendedCard: boolean;
  readonly requiredExtension: boolean;
}

export interface Binding {
  readonly title: string;
  /** As the suite's option --transport names it. */
  readonly transport: string;
  /** Settings that turn it on. */
  readonly settings: Readonly<Record<string, string>>;
  /** How many tests the suite has for it at its pinned revision. Fewer means that tests were lost on the way. */
  readonly tests: number;
}

export interface SetUp {
  readonly title: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly offer: Omit<Offer, 'extendedCard'>;
}

export interface Callers {
  readonly title: string;
  /** The extended card is for callers who have proved who they are. */
  readonly extendedCard: boolean;
}

/** The revision of a2aproject/a2a-tck, branch 1.0-dev, that the numbers of tests and the known failures are about. */
export const SUITE_REVISION = '357c4a87afa2818731590647cccbea31c31733a2';

/** An extension that the suite asks about by this name. */
export const REQUIRED_EXTENSION = 'urn:a2a:tck:required-extension';

export const BINDINGS = {
  jsonrpc: { title: 'JSON-RPC', transport: 'jsonrpc', settings: {}, tests: 106 },
  http_json: { title: 'HTTP+JSON', transport: 'http_json', settings: { A2A_HTTP_JSON: 'on' }, tests: 100 },
  grpc: { title: 'gRPC', transport: 'grpc', settings: { GRPC_PORT: '0' }, tests: 83 },
} as const satisfies Readonly<Record<string, Binding>>;

export const SET_UPS = {
  everything: {
    title: 'everything on',
    settings: { A2A_STREAMING: 'on', A2A_PUSH: 'on', A2A_PUSH_ALLOW: '127.0.0.1' },
    offer: { streaming: true, push: true, requiredExtension: false },
  },
  little: {
    title: 'push and streaming off',
    settings: { A2A_STREAMING: 'off', A2A_PUSH: 'off' },
    offer: { streaming: false, push: false, requiredExtension: false },
  },
  extension: {
    title: 'an extension required, push off',
    settings: { A2A_REQUIRED_EXTENSIONS: REQUIRED_EXTENSION },
    offer: { streaming: true, push: false, requiredExtension: true },
  },
} as const satisfies Readonly<Record<string, SetUp>>;

export const CALLERS = {
  anonymous: { title: 'anonymous', extendedCard: false },
  bearer: { title: 'bearer token', extendedCard: true },
} as const satisfies Readonly<Record<string, Callers>>;

export type BindingName = keyof typeof BINDINGS;
export type SetUpName = keyof typeof SET_UPS;
export type CallersName = keyof typeof CALLERS;

/** One run of the suite. */
export interface Run {
  readonly binding: BindingName;
  readonly setUp: SetUpName;
  readonly callers: CallersName;
}

export function offerOf({ setUp, callers }: Pick<Run, 'setUp' | 'callers'>): Offer {
  return { ...SET_UPS[setUp].offer, extendedCard: CALLERS[callers].extendedCard };
}
