import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeySet } from '../../adapters/jwks/key-set.ts';
import { createTokenVerifier } from '../../adapters/jwks/token-verifier.ts';
import { createRovoEdge, type RovoEdge, type RovoEdgeOptions } from '../../adapters/rovo/edge.ts';
import { parseForgeAppId } from '../../adapters/rovo/forge-ids.ts';
import { openSqliteStore } from '../../adapters/sqlite/open.ts';
import type { Level, LogFields, Telemetry } from '../../core/ports/telemetry.ts';
import type { Tenants } from '../../core/ports/tenants.ts';
import { createWakeups } from '../../core/runtime/wakeups.ts';
import { createForgeApp, type ForgeApp, type Installation } from '../../simulator/forge/installation.ts';
import { mintInvocationToken, type TokenOptions } from '../../simulator/forge/invocation-token.ts';
import { type JwksEndpoint, startJwksEndpoint } from '../../simulator/forge/jwks-endpoint.ts';
import { createKeyRing, type KeyRing } from '../../simulator/forge/key-ring.ts';
import { createMovedClock, type MovedClock } from '../jwks/moved-clock.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';

export const ALICE = '557057:00000000-0000-4000-8000-00000000a11c';
export const AGENT_ACCOUNT = '712020:00000000-0000-4000-8000-0000000a6e47';
export const INSTALLATION: Installation = {
  id: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee',
  cloudId: '99999999-8888-4777-8666-555555555555',
  apiBaseUrl: 'https://api.atlassian.com/ex/jira/99999999-8888-4777-8666-555555555555',
  siteUrl: 'https://harbor.example',
  installerAccountId: ALICE,
};
export const TENANT = `rovo:${INSTALLATION.id}`;

export const digest = (text: string) => createHash('sha256').update(text).digest('hex');

export interface LogLine {
  readonly level: Level;
  readonly name: string;
  readonly fields: LogFields;
  readonly error: unknown;
}

export interface World {
  readonly app: ForgeApp;
  readonly ring: KeyRing;
  readonly jwks: JwksEndpoint;
  readonly clock: MovedClock;
  readonly tenants: Tenants;
  /** How many writes reached the tenants. */
  writes(): number;
  readonly edge: RovoEdge;
  readonly telemetry: Telemetry;
  readonly log: readonly LogLine[];
  /** Headers of a call as Alice, minted at the clock's time. */
  headers(options?: TokenOptions, more?: Record<string, string>): Promise<Record<string, string>>;
  /** Another edge on the same keys and tenants. */
  edgeWith(options: Partial<RovoEdgeOptions>): RovoEdge;
  close(): Promise<void>;
}

// Shared: making RSA keys takes longer than everything else here together.
const keys = createKeyRing();

/** A Rovo edge on real keys over HTTP and a real store; only Atlassian and the clock are played. */
export async function createWorld(): Promise<World> {
  const app = createForgeApp();
  const ring = await keys;
  const jwks = await startJwksEndpoint(ring);
  const clock = createMovedClock();
  const log: LogLine[] = [];
  const telemetry: Telemetry = {
    ...silentTelemetry,
    event: (level, name, fields = {}, error) => void log.push({ level, name, fields, error }),
  };
  const folder = await mkdtemp(join(tmpdir(), 'rovo-'));
  const { store, tenants } = await openSqliteStore({
    path: join(folder, 'a.db'),
    clock,
    wakeups: createWakeups(clock),
  });
  const keySet = createKeySet({ url: jwks.url, clock, telemetry });
  let writes = 0;
  const counted: Tenants = {
    ...tenants,
    put(...parameters) {
      writes += 1;
      return tenants.put(...parameters);
    },
  };
  const appId = parseForgeAppId(app.ari);
  if (appId === undefined) throw new Error('the simulated app has no usable id');

  const edgeWith = (options: Partial<RovoEdgeOptions>) =>
    createRovoEdge({
      app: appId,
      agentId: 'agent',
      apiHosts: ['api.atlassian.com'],
      waitMs: 10_000,
      syncDeadlineMs: 50_000,
      streamDeadlineMs: 890_000,
      chatDeadlineMs: 1_740_000,
      itemDeadlineMs: 3_540_000,
      versions: ['1.0'],
      verifier: (rules) => createTokenVerifier({ ...rules, keySet, clock }),
      tenants: counted,
      clock,
      digest,
      telemetry,
      ...options,
    });

  return {
    app,
    ring,
    jwks,
    clock,
    tenants,
    writes: () => writes,
    edge: edgeWith({}),
    telemetry,
    log,
    edgeWith,
    async headers(options = {}, more = {}) {
      const ageMs = Date.now() - clock.now() + (options.ageMs ?? 0);
      const subject = { app, installation: INSTALLATION, principal: ALICE };
      const token = await mintInvocationToken(ring, subject, { ...options, ageMs });
      return { authorization: `Bearer ${token}`, ...more };
    },
    async close() {
      keySet.close();
      await jwks.close();
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}
