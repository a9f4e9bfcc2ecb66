/** Bounds that are part of what the service promises. Those that an operator may change are in the configuration. */
export const LIMITS = {
  /** Opaque ids (task, context, message, artifact), in UTF-8 bytes. */
  idBytes: 256,
  /** One SSE data line or push body, in characters after JSON escaping. The strictest known client drops 65,536. */
  frameChars: 60_000,
  /** Text that consecutive chunks of one artifact are merged into before a commit, in UTF-16 units. */
  mergeChars: 32_768,
  /** How long a first chunk waits for the next one. */
  mergeMs: 30,
  /** Metadata that an agent or a caller attaches to one object, in characters of JSON. */
  metadataChars: 16_384,
  /** Artifact names and descriptions. */
  labelChars: 2_000,
  /** `earlier()` of the agent port. */
  earlierDefault: 10,
  earlierMax: 50,
  listDefault: 50,
  listMax: 100,
  /** Stored JSON that one answer gathers of several tasks, in UTF-8 bytes. The first task always comes, however large. */
  listBytes: 2_000_000,
  /** Events that a stream reads from the store at once. */
  eventPage: 128,
  /** How often a lost wake-up costs at most: streams and waits read the store again after this. */
  pollMs: 1_000,
  /** A stream's first frame on an edge that may answer with a Message waits this long for the agent's first update. */
  firstUpdateMs: 2_000,
  /** An agent that ignores its signal keeps its slot this long. */
  abandonMs: 5_000,
  /** A `rerun` execution that was lost this often is dead: its agent takes the process down. */
  maxAttempts: 5,
  /** Time reserved at the end of a drain to record what was interrupted. */
  drainReserveMs: 3_000,
  /** Receivers of push notifications of one task. */
  pushConfigsMax: 20,
  /** Turns that one claim takes at most. */
  claimMax: 64,
  /** Stored messages that one claim reads, in UTF-8 bytes of JSON. The first turn always comes, however large. */
  claimBytes: 8_000_000,
  /** Events of one task. A turn that would commit more fails its task. */
  eventsMax: 100_000,
  /** Turns that wait for a runner, of one tenant and of all. */
  queueMaxPerTenant: 10_000,
  queueMax: 500_000,
  /** When somebody who found the queue or an inbox full should come again. */
  queueRetryMs: 5_000,
  /** Messages of one task that wait for the agent. */
  inboxMax: 100,
  /** Their stored JSON, in UTF-8 bytes. A task that has reached it takes no further message for now. */
  inboxBytes: 8_000_000,
  /** Stored messages of one task, in UTF-8 bytes of JSON and in number. A task that has reached one takes no more. */
  historyBytes: 32_000_000,
  historyMax: 10_000,
} as const;

/**
 * Bounds on how much is taken on, by name. Whoever meets one is refused with OVERLOADED and told when to come again; the
 * names are labels of `a2a_refusals_total` and stand in docs/operations.md.
 */
export const LOAD_LIMITS = {
  connections: 'all',
  requests: 'all',
  'requests-per-principal': 'one',
  bodies: 'all',
  answers: 'all',
  streams: 'all',
  'streams-per-principal': 'one',
  queue: 'all',
  'queue-per-tenant': 'one',
  inbox: 'one',
} as const satisfies Record<string, 'all' | 'one'>;

/** `one`: the caller has too much. `all`: the service has, and the caller may have done nothing. */
export type LoadLimit = keyof typeof LOAD_LIMITS;
