import type { A2aAuthConfig, A2aConfig, Config, RovoConfig } from './config.ts';
import { type ConfigValues, USUAL_SHARES } from './config-schema.ts';

/** The variables, sorted by who needs them. Edges that are off are absent. */
export function arrange(values: ConfigValues, warnings: readonly string[]): Config {
  const rovo = rovoOf(values);
  const a2a = a2aOf(values);
  return {
    logLevel: values.LOG_LEVEL,
    host: values.HOST.replace(/^\[(.*)\]$/, '$1'),
    port: values.PORT,
    publicUrl: values.PUBLIC_URL ?? `http://127.0.0.1:${values.PORT}`,
    publicUrlDerived: values.PUBLIC_URL === undefined,
    database: values.DATABASE_URL,
    role: values.ROLE,
    maxBodyBytes: values.MAX_BODY_BYTES,
    limits: limitsOf(values),
    drainMs: values.DRAIN_MS,
    ...(values.HELP_URL !== undefined && { helpUrl: values.HELP_URL }),
    ops: {
      ...(values.OPS_TOKEN !== undefined && { token: values.OPS_TOKEN }),
      ...(values.OPS_PORT !== undefined && { port: values.OPS_PORT }),
    },
    agent: {
      source: values.AGENT,
      id: values.AGENT_ID,
      concurrency: values.AGENT_CONCURRENCY,
      ...concurrencyPerTenant(values),
      leaseMs: values.LEASE_MS,
    },
    parkedMaxMs: values.PARKED_MAX_MS,
    retentionMs: values.RETENTION_MS,
    credentialsKeys: values.CREDENTIALS_KEY ?? [],
    ...(rovo && { rovo }),
    ...(a2a && { a2a }),
    warnings,
  };
}

function limitsOf(values: ConfigValues): Config['limits'] {
  // Where everybody is let in as one, a bound on one would be a bound on all.
  const share = (name: keyof typeof USUAL_SHARES, all: number): number =>
    values[name] ?? (values.A2A_AUTH === 'anonymous' ? all : USUAL_SHARES[name]);
  return {
    connections: values.MAX_CONNECTIONS,
    requests: values.MAX_REQUESTS,
    requestsPerPrincipal: share('MAX_REQUESTS_PER_PRINCIPAL', values.MAX_REQUESTS),
    streams: values.MAX_STREAMS,
    streamsPerPrincipal: share('MAX_STREAMS_PER_PRINCIPAL', values.MAX_STREAMS),
    bodiesBytes: values.MAX_BODIES_BYTES,
    answersBytes: values.MAX_ANSWERS_BYTES,
    queued: values.MAX_QUEUED,
    queuedPerTenant: share('MAX_QUEUED_PER_TENANT', values.MAX_QUEUED),
  };
}

/** By default one slot in eight is kept for those who come while one tenant has long turns. */
function concurrencyPerTenant(values: ConfigValues): Pick<Config['agent'], 'concurrencyPerTenant'> {
  const { A2A_AUTH, AGENT_CONCURRENCY: slots, AGENT_CONCURRENCY_PER_TENANT: share } = values;
  if (share !== undefined) return { concurrencyPerTenant: share };
  const kept = A2A_AUTH === 'anonymous' ? 0 : Math.floor(slots / 8);
  return kept === 0 ? {} : { concurrencyPerTenant: slots - kept };
}

function rovoOf(values: ConfigValues): RovoConfig | undefined {
  if (values.FORGE_APP_ID === undefined) return undefined;
  return {
    appId: values.FORGE_APP_ID,
    jwksUrl: values.FORGE_JWKS_URL,
    versions: values.ROVO_VERSIONS,
    waitMs: Math.min(values.ROVO_WAIT_MS, values.ROVO_SYNC_DEADLINE_MS),
    syncDeadlineMs: values.ROVO_SYNC_DEADLINE_MS,
    streamDeadlineMs: values.ROVO_STREAM_DEADLINE_MS,
    chatDeadlineMs: values.ROVO_CHAT_DEADLINE_MS,
    itemDeadlineMs: values.ROVO_ITEM_DEADLINE_MS,
    apiHosts: values.ROVO_API_HOSTS.map((host) => host.toLowerCase()),
    ...(values.ROVO_MODULE_KEYS && { moduleKeys: values.ROVO_MODULE_KEYS }),
  };
}

function a2aOf(values: ConfigValues): A2aConfig | undefined {
  const auth = authOf(values);
  if (!auth) return undefined;
  return {
    auth,
    waitMs: values.A2A_WAIT_MS,
    streamDeadlineMs: values.A2A_STREAM_DEADLINE_MS,
    taskDeadlineMs: values.A2A_TASK_DEADLINE_MS,
    versions: values.A2A_VERSIONS,
    streaming: values.A2A_STREAMING,
    httpJson: values.A2A_HTTP_JSON,
    ...(values.GRPC_PORT !== undefined &&
      values.A2A_VERSIONS.includes('1.0') && {
        grpc: { port: values.GRPC_PORT, ...(values.GRPC_URL !== undefined && { address: values.GRPC_URL }) },
      }),
    ...(values.A2A_PUSH && {
      push: { allowedHosts: (values.A2A_PUSH_ALLOW ?? []).map((host) => host.toLowerCase()) },
    }),
    requiredExtensions: values.A2A_REQUIRED_EXTENSIONS ?? [],
    ...(values.A2A_CARD_SIGNING_KEY && { signingKey: values.A2A_CARD_SIGNING_KEY }),
  };
}

function authOf(values: ConfigValues): A2aAuthConfig | undefined {
  const { A2A_AUTH, A2A_JWT_ISSUER: issuer, A2A_JWT_AUDIENCE: audience, A2A_JWKS_URL: jwksUrl } = values;
  if (A2A_AUTH === 'anonymous') return { kind: 'anonymous' };
  if (A2A_AUTH === 'off' || issuer === undefined || audience === undefined || jwksUrl === undefined) return undefined;
  const tenantClaim = values.A2A_TENANT_CLAIM;
  return { kind: 'jwt', issuer, audience, jwksUrl, ...(tenantClaim !== undefined && { tenantClaim }) };
}
