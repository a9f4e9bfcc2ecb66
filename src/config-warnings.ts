import { nearestName } from '../core/nearest-name.ts';
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
    .map((name) => ({ name, ...nearestName(name, known) }))
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

/** What one may have of something, and what there is of it. */
const SHARES = [
  ['AGENT_CONCURRENCY_PER_TENANT', 'AGENT_CONCURRENCY'],
  ['MAX_REQUESTS_PER_PRINCIPAL', 'MAX_REQUESTS'],
  ['MAX_STREAMS_PER_PRINCIPAL', 'MAX_STREAMS'],
  ['MAX_QUEUED_PER_TENANT', 'MAX_QUEUED'],
] as const;

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
  for (const [share, whole] of SHARES) {
    const [part = 0, all = 0] = [values[share], values[whole]];
    if (given(share) && part > all) warnings.push(`${share} has no effect while ${whole} is ${all}`);
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
