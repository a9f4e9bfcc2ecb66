export type Binding = 'JSON-RPC' | 'HTTP+JSON' | 'gRPC' | 'webhook' | 'card' | 'custom';

/** One thing that A2A 1.0 asks of a server. Not met, not offered and elsewhere take the place of a test that cites it. */
export interface Requirement {
  /** Section of the specification, a dash, and a word or two of ours. Messages of a2a.proto count as their section. */
  readonly id: string;
  readonly level: 'must' | 'should';
  readonly bindings: readonly Binding[];
  /** In our words. */
  readonly text: string;
  /** Why not. For a SHOULD only. */
  readonly notMet?: string;
  /** What it is about is not there: why. */
  readonly notOffered?: string;
  /** Who has to do it, because the program cannot. */
  readonly elsewhere?: string;
  /** It is met and tested, within limits that a reader has to know. */
  readonly limits?: string;
}

type Status = Pick<Requirement, 'notMet' | 'notOffered' | 'elsewhere' | 'limits'> & {
  /** Absent: every binding that carries operations. */
  readonly on?: readonly Binding[];
};

const OPERATIONS: readonly Binding[] = ['JSON-RPC', 'HTTP+JSON', 'gRPC'];

export function must(id: string, text: string, { on = OPERATIONS, ...status }: Omit<Status, 'notMet'> = {}) {
  return { id, level: 'must', bindings: on, text, ...status } satisfies Requirement;
}

export function should(id: string, text: string, { on = OPERATIONS, ...status }: Status = {}) {
  return { id, level: 'should', bindings: on, text, ...status } satisfies Requirement;
}

/** `3.1.4` of `3.1.4-order`. */
export function sectionOf({ id }: Pick<Requirement, 'id'>): string {
  return id.slice(0, id.indexOf('-'));
}

export const NO_CUSTOM = 'There is no custom binding.';
