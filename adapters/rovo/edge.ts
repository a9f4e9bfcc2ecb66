import type { Clock, Digest } from '../../core/ports/clock.ts';
import type { EdgeProfile } from '../../core/ports/edge.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { Tenants } from '../../core/ports/tenants.ts';
import type { Caller } from '../../core/principal.ts';
import type { InvocationClaims } from './claims.ts';
import type { ForgeAppId } from './forge-ids.ts';
import { type RequestHeaders, traceOf } from './headers.ts';
import { createInstallations, tenantId } from './installations.ts';
import {
  createInvocationTokens,
  type InvocationTokenRules,
  invocationTokenRules,
  type UserInvocation,
  type VerifyInvocationToken,
} from './invocation-token.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { type Call, type Prepared, prepareCall } from './prepare.ts';
import { createRefuse } from './refusal.ts';
import { userTokenOf } from './user-token.ts';

type ProtocolVersion = '1.0' | '0.3';

export interface RovoEdgeOptions {
  /** Of FORGE_APP_ID, see parseForgeAppId. */
  readonly app: ForgeAppId;
  /** AGENT_ID. */
  readonly agentId: string;
  /** ROVO_API_HOSTS */
  readonly apiHosts: readonly string[];
  /** ROVO_MODULE_KEYS; absent or empty = any. */
  readonly moduleKeys?: readonly string[];
  readonly waitMs: number;
  readonly syncDeadlineMs: number;
  readonly streamDeadlineMs: number;
  readonly chatDeadlineMs: number;
  readonly itemDeadlineMs: number;
  /** ROVO_VERSIONS, at least one. */
  readonly versions: readonly ProtocolVersion[];
  /** Makes the signature check that fulfils these rules; keys are its business. */
  readonly verifier: (rules: InvocationTokenRules) => VerifyInvocationToken;
  readonly tenants: Tenants;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly telemetry: Telemetry;
}

/** One authenticated call. `invocation` is what its token proved, for whoever acts for the caller. */
export interface RovoSession {
  readonly caller: Caller;
  readonly invocation: UserInvocation;
  prepare(call: Call): Prepared;
}

/** Jira's door. */
export interface RovoEdge {
  readonly name: 'rovo';
  readonly profile: EdgeProfile;
  /** A proxy on the way may drop the header that says it. */
  readonly defaultVersion: ProtocolVersion;
  readonly versions: readonly ProtocolVersion[];
  /** Rovo's older form has no such header either, but methods of its own. */
  readonly versionByMethod: true;
  readonly streaming: true;
  /** As `rovo.refused`, with what Atlassian's support asks for. */
  readonly logsRefusals: true;
  readonly legacyHint: string;
  /** Registers the installation and answers who calls. Rejects with DomainError. Reads headers only. */
  authenticate(headers: RequestHeaders): Promise<RovoSession>;
  authenticateLifecycle(headers: RequestHeaders): Promise<InvocationClaims>;
  readonly lifecycle: Lifecycle;
}

export function createRovoEdge(options: RovoEdgeOptions): RovoEdge {
  const { app, agentId, clock, digest, telemetry, tenants } = options;
  const verify = options.verifier(invocationTokenRules(app));
  const refuse = createRefuse(telemetry);
  const tokens = createInvocationTokens({ ...options, verify, refuse });
  const installations = createInstallations({ app, tenants });

  function callerOf(invocation: UserInvocation, headers: RequestHeaders): Caller {
    const { trace, b3 } = traceOf(headers);
    const userToken = userTokenOf(headers, clock.now());
    const tenant = tenantId(invocation);
    telemetry.event('debug', 'rovo.authenticated', {
      tenant,
      trace,
      b3TraceId: b3,
      userToken: Boolean(userToken),
    });
    return {
      owner: { tenant, principal: invocation.principal, agent: agentId },
      ...(userToken === undefined ? {} : { userToken }),
      ...(trace === undefined ? {} : { trace }),
    };
  }

  return {
    name: 'rovo',
    defaultVersion: options.versions.includes('1.0') ? '1.0' : '0.3',
    versions: options.versions,
    versionByMethod: true,
    streaming: true,
    logsRefusals: true,
    legacyHint: 'Set version: "1.0" on the rovo:agentConnector module in manifest.yml and deploy the app again.',
    profile: {
      name: 'rovo',
      contextPolicy: 'single-active-task',
      waitMs: Math.min(options.waitMs, options.syncDeadlineMs),
      streamDeadlineMs: options.streamDeadlineMs,
      messageAnswers: false,
      subscribeEnds: 'input-required',
      subscribeFinished: 'task',
      lastEventId: false,
    },
    async authenticate(headers) {
      const invocation = await tokens.user(headers);
      if (!(await installations.admit(invocation))) {
        throw refuse(new Error('the installation was removed'), headers);
      }
      const { installationId, principal, jti } = invocation;
      const { chatDeadlineMs, itemDeadlineMs } = options;
      return {
        caller: callerOf(invocation, headers),
        invocation,
        prepare: (call) =>
          prepareCall(call, { installationId, principal, jti, digest, chatDeadlineMs, itemDeadlineMs }),
      };
    },
    authenticateLifecycle: tokens.lifecycle,
    lifecycle: createLifecycle({ installations, telemetry }),
  };
}
