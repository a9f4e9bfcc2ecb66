import { hostname } from 'node:os';
import type { Middleware } from 'koa';
import { createA2AEndpoint } from '../adapters/a2a/endpoint.ts';
import { createGrpcServer } from '../adapters/a2a/grpc-server.ts';
import { createLoadGate } from '../adapters/a2a/load-gate.ts';
import { AgentLoadError, loadAgent } from '../adapters/agents/module-loader.ts';
import { type Budget, createBudget } from '../adapters/jira/budget.ts';
import { createJira } from '../adapters/jira/jira.ts';
import type { JiraOptions } from '../adapters/jira/reader.ts';
import { readSiteUrl } from '../adapters/jira/server-info.ts';
import { createKeySet } from '../adapters/jwks/key-set.ts';
import { createTokenVerifier, type TokenRules } from '../adapters/jwks/token-verifier.ts';
import { destinationFault } from '../adapters/push/destination.ts';
import { authorizationText } from '../adapters/rovo/authorization-text.ts';
import { createRovoEdge } from '../adapters/rovo/edge.ts';
import { parseForgeAppId } from '../adapters/rovo/forge-ids.ts';
import { invocationOf } from '../adapters/rovo/invocation.ts';
import { createRovoRoutes } from '../adapters/rovo/routes.ts';
import { SqliteOpenError } from '../adapters/sqlite/open-error.ts';
import { openThreadedStore } from '../adapters/sqlite/threaded-store.ts';
import { createMemoryVault } from '../adapters/vault/memory-vault.ts';
import { createSealedVault } from '../adapters/vault/sealed-vault.ts';
import { createOperations } from '../core/operations/create-operations.ts';
import { createPushOperations } from '../core/operations/push-configs.ts';
import { createActLog } from '../core/runtime/act-log.ts';
import { createJanitor } from '../core/runtime/janitor.ts';
import { createRunner } from '../core/runtime/runner.ts';
import { createWakeups } from '../core/runtime/wakeups.ts';
import { createA2aEdge } from './a2a-edge.ts';
import type { Config, RovoConfig } from './config.ts';
import { createJiraCapabilities, type UserJiraOptions } from './jira-capabilities.ts';
import { createService, type Edges, type Service } from './service.ts';
import { StartError } from './start-error.ts';
import { sha256, systemClock, timeOrderedIds } from './system-clock.ts';
import type { ServiceTelemetry } from './telemetry.ts';

/*
 * Wires the program: the only file that knows two adapters. Nothing here decides anything.
 * Longer than the other files of src for that reason: every adapter is named here once, in the order of a request.
 */

const JWT_RULES = {
  /** RFC 7518 names that verify with a public key. */
  algorithms: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'],
  requiredClaims: ['exp', 'sub'],
  clockToleranceSeconds: 10,
};

export async function compose(config: Config, telemetry: ServiceTelemetry): Promise<Service> {
  const clock = systemClock;
  const ids = timeOrderedIds;
  const digest = sha256;
  const wakeups = createWakeups(clock);
  const agent = await loadAgent(config.agent.source, {
    cwd: process.cwd(),
    warn: (warning) => telemetry.event('warn', 'agent.warning', { warning }),
  }).catch((error: unknown) => {
    throw error instanceof AgentLoadError
      ? new StartError(`AGENT: ${error.message}`, { exitCode: 78, cause: error })
      : error;
  });
  const { path } = config.database;
  const { store, tenants, pushConfigs, operator, halt } = await openThreadedStore(
    new URL('./store-thread.js', import.meta.url),
    { path, clock, wakeups, telemetry },
  ).catch((error: unknown) => {
    throw error instanceof SqliteOpenError ? new StartError(`DATABASE_URL: ${error.message}`, { cause: error }) : error;
  });
  const [firstKey, ...otherKeys] = config.credentialsKeys;
  const vault = firstKey
    ? createSealedVault({ keys: [firstKey, ...otherKeys], digest, clock })
    : createMemoryVault({ digest, clock });
  const { limits } = config;
  const allowedHosts = config.a2a?.push?.allowedHosts ?? [];
  const push = {
    operations: createPushOperations({ configs: pushConfigs, ids }),
    destinationFault: (url: string) => destinationFault(url, { allowedHosts }),
  };
  const shutdown = new AbortController();
  const keySets: { close(): void }[] = [];

  const verifier = (jwksUrl: string) => {
    const keySet = createKeySet({ url: jwksUrl, clock, telemetry });
    keySets.push(keySet);
    return (rules: TokenRules) => createTokenVerifier({ ...rules, keySet, clock });
  };
  function rovoEdges(rovo: RovoConfig): Edges {
    const app = parseForgeAppId(rovo.appId);
    if (!app) throw new TypeError('FORGE_APP_ID was not checked');
    const edge = createRovoEdge({
      ...rovo,
      app,
      agentId: config.agent.id,
      verifier: verifier(rovo.jwksUrl),
      tenants,
      clock,
      digest,
      telemetry,
    });
    return {
      endpoints: [createA2AEndpoint({ ...endpoint, edge, path: '/rovo/a2a' })],
      middlewares: [createRovoRoutes({ edge, clock, telemetry }).routes() as unknown as Middleware],
    };
  }

  const budgets = new Map<string, Budget>();
  const budgetOf = (tenant: string): Budget => {
    const budget = budgets.get(tenant) ?? createBudget({ clock });
    budgets.set(tenant, budget);
    return budget;
  };
  const jiraOptions = ({ tenant, ...options }: UserJiraOptions): JiraOptions => ({
    ...options,
    apiBaseUrl: String(tenant.attributes.apiBaseUrl ?? ''),
    allowedHosts: config.rovo?.apiHosts ?? [],
    explainAuthorization: () => authorizationText(tenant, config.helpUrl ? { helpUrl: config.helpUrl } : {}),
    clock,
    telemetry,
    budget: budgetOf(tenant.id),
  });
  const capabilities = createJiraCapabilities({
    store,
    tenants,
    vault,
    invocationOf,
    jiraFor: (options) => createJira(jiraOptions(options)),
    siteUrlFor: (options) => readSiteUrl(jiraOptions(options)),
    telemetry,
  });
  const runner = createRunner({
    store,
    wakeups,
    clock,
    ids,
    digest,
    telemetry,
    agent,
    capabilities,
    worker: `${hostname()}-${process.pid}-${ids.next().slice(0, 8)}`,
    ...config.agent,
    agentId: config.agent.id,
    parkedMaxMs: config.parkedMaxMs,
  });
  const operations = createOperations({
    ...{ store, vault, wakeups, clock, ids, digest, telemetry },
    queueMax: { tenant: limits.queuedPerTenant, everybody: limits.queued },
    ...(config.role === 'api' ? {} : { slots: runner }),
  });
  const endpoint = {
    operations,
    telemetry,
    clock,
    shutdown: shutdown.signal,
    limits: { maxBodyBytes: config.maxBodyBytes },
    gate: createLoadGate({ limits, telemetry }),
  };
  const janitor = createJanitor({ store, tenants, vault, clock, ids, telemetry, retentionMs: config.retentionMs });
  return createService({
    config,
    telemetry,
    store,
    janitor,
    actLog: createActLog({ operator, wakeups, telemetry }),
    shutdown,
    digest,
    clock,
    ...(config.role === 'api' ? {} : { runner }),
    ...(config.a2a?.grpc && config.role !== 'worker'
      ? { grpcServer: createGrpcServer({ maxBodyBytes: config.maxBodyBytes }) }
      : {}),
    edges: (whereabouts) => {
      const none = { endpoints: [], middlewares: [] };
      if (config.role === 'worker') return none;
      const rovo = config.rovo ? rovoEdges(config.rovo) : none;
      if (!config.a2a) return rovo;
      const { endpoints, middlewares, ...a2a } = createA2aEdge({
        ...{ a2a: config.a2a, ...whereabouts, agent, endpoint, push },
        agentId: config.agent.id,
        verifier: (auth) => verifier(auth.jwksUrl)({ ...auth, ...JWT_RULES }),
      });
      return {
        ...a2a,
        endpoints: [...rovo.endpoints, ...endpoints],
        middlewares: [...rovo.middlewares, ...middlewares],
      };
    },
    halt,
    release: () => {
      for (const keySet of keySets) keySet.close();
    },
  });
}
