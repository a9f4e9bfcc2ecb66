import type { Readings } from './config-rules.ts';
import { CONFIG_KEYS, type ConfigKey } from './config-schema.ts';
import { isLoopback } from './config-values.ts';

/** Nobody else uses names that begin so. */
const OURS = /^(ROVO|A2A)_/;
/** Other names belong to other programs too (FORGE_EMAIL is one of the Forge CLI), unless they are this near to one of ours. */
const SLIP = 2;

/**
 * Things that do not keep the service from starting but are hardly meant: misspelt names, settings without effect,
 * callers who are sent over the network in clear.
 */
export function configWarnings(names: readonly string[], readings: Readings): readonly string[] {
  const known = Object.keys(CONFIG_KEYS);
  const misspelt = names
    .filter((name) => !known.includes(name))
    .map((name) => ({ name, ...nearest(name, known) }))
    .filter(({ name, candidate, distance }) => OURS.test(name) || (candidate.includes('_') && distance <= SLIP))
    .map(({ name, candidate }) => `${name} is not a setting of this service; did you mean ${candidate}?`);
  return [...misspelt, ...inClear(readings), ...withoutEffect(readings)];
}

/** A2A 1.0, 7.1 and AgentInterface.url. Not refused: somebody may have a network of their own for it. */
function inClear({ values }: Readings): string[] {
  if (values.PUBLIC_URL === undefined) return [];
  const { protocol, hostname, origin } = new URL(values.PUBLIC_URL);
  if (isLoopback(hostname)) return [];
  const warnings: string[] = [];
  if (protocol !== 'https:') {
    warnings.push(
      `PUBLIC_URL is ${origin}: callers are told to send their tokens there without TLS; let it be an https URL`,
    );
  }
  const { A2A_AUTH, GRPC_PORT, GRPC_URL } = values;
  if (A2A_AUTH !== 'off' && GRPC_PORT !== undefined && GRPC_URL === undefined) {
    const address = `${hostname}:${GRPC_PORT}`;
    warnings.push(`GRPC_URL is not set: callers are told to use ${address}; name the port where TLS is ended instead`);
  }
  return warnings;
}

function withoutEffect({ values, given }: Readings): string[] {
  const keys = (Object.keys(CONFIG_KEYS) as ConfigKey[]).filter(given);
  const warnings: string[] = [];
  if (values.A2A_AUTH !== undefined && values.A2A_AUTH !== 'jwt') {
    for (const key of keys.filter((name) => /^A2A_(JW|TENANT)/.test(name))) {
      warnings.push(`${key} has no effect while A2A_AUTH is ${values.A2A_AUTH}`);
    }
  }
  if (values.A2A_PUSH) warnings.push('A2A_PUSH is on: configs are kept, but this version delivers nothing to them');
  if (values.A2A_PUSH === false && given('A2A_PUSH_ALLOW')) {
    warnings.push('A2A_PUSH_ALLOW has no effect while A2A_PUSH is off');
  }
  for (const [key, without] of grpcWithout(values)) {
    if (given(key)) warnings.push(`${key} has no effect while ${without}`);
  }
  const { AGENT_CONCURRENCY: slots = 0, AGENT_CONCURRENCY_PER_TENANT: share = 0 } = values;
  if (share >= slots && share > 0) {
    warnings.push(`AGENT_CONCURRENCY_PER_TENANT has no effect while AGENT_CONCURRENCY is ${slots}`);
  }
  if (!given('FORGE_APP_ID')) {
    for (const key of keys.filter((name) => /^(ROVO_|FORGE_)/.test(name))) {
      warnings.push(`${key} has no effect while FORGE_APP_ID is not set`);
    }
  }
  return warnings;
}

function grpcWithout(values: Readings['values']): readonly (readonly ['GRPC_PORT' | 'GRPC_URL', string])[] {
  if (values.A2A_AUTH === 'off') {
    return (['GRPC_PORT', 'GRPC_URL'] as const).map((key) => [key, 'A2A_AUTH is off']);
  }
  if (values.A2A_VERSIONS?.includes('1.0') === false) return [['GRPC_PORT', 'A2A_VERSIONS has no 1.0']];
  return values.GRPC_PORT === undefined ? [['GRPC_URL', 'GRPC_PORT is not set']] : [];
}

interface Near {
  readonly candidate: string;
  /** In edits. */
  readonly distance: number;
}

function nearest(name: string, candidates: readonly string[]): Near {
  let best: Near = { candidate: '', distance: Number.POSITIVE_INFINITY };
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate);
    if (distance < best.distance) best = { candidate, distance };
  }
  return best;
}

/** Levenshtein's, one row of the matrix at a time. Names are a few dozen characters. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let line = 1; line <= a.length; line += 1) {
    const next = [line];
    for (let column = 1; column <= b.length; column += 1) {
      const substitute = (row[column - 1] ?? 0) + (a[line - 1] === b[column - 1] ? 0 : 1);
      next.push(Math.min(substitute, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
