import { type AgentCardSource, createAgentCard, skillsOf } from '../adapters/a2a/agent-card.ts';
import { createAgentCardEndpoint, KEY_SET_PATH } from '../adapters/a2a/agent-card-endpoint.ts';
import { createAnonymousEdge } from '../adapters/a2a/anonymous-edge.ts';
import { createCardSigner } from '../adapters/a2a/card-signing.ts';
import type { Edge } from '../adapters/a2a/edge.ts';
import { createA2AEndpoint, type EndpointOptions } from '../adapters/a2a/endpoint.ts';
import { createGrpcEndpoint } from '../adapters/a2a/grpc-endpoint.ts';
import { createJwtEdge, type JwtEdgeOptions } from '../adapters/a2a/jwt-edge.ts';
import { createLegacyAgentCard } from '../adapters/a2a/legacy-agent-card.ts';
import type { JsonObject } from '../core/message.ts';
import type { Agent } from '../core/ports/agent.ts';
import { a2aProfile } from './a2a-profile.ts';
import type { A2aAuthConfig, A2aConfig } from './config.ts';
import type { Edges, Whereabouts } from './service.ts';
import { packageVersion } from './version.ts';

/*
 * The generic edge: its endpoints and its card, all from one source, so that the card says what they do.
 */

export interface A2aEdgeOptions extends Whereabouts {
  readonly a2a: A2aConfig;
  readonly agent: Agent;
  /** AGENT_ID */
  readonly agentId: string;
  /** Makes the check of a token's signature and claims; keys are its business. */
  readonly verifier: (auth: Extract<A2aAuthConfig, { kind: 'jwt' }>) => JwtEdgeOptions['verify'];
  /** Keeps receivers; used when A2A_PUSH is on. */
  readonly push: NonNullable<EndpointOptions['push']>;
  readonly endpoint: Omit<EndpointOptions, 'edge' | 'path' | 'httpJsonPath' | 'extendedCard' | 'push'> &
    Required<Pick<EndpointOptions, 'gate'>>;
}

const CARD_MAX_AGE_SECONDS = 3_600;
const DESCRIPTION = 'An agent that works on Jira work items and answers through durable tasks.';
const EXTENSION = 'Has to be activated by every call.';

export function createA2aEdge(options: A2aEdgeOptions): Edges {
  const { a2a, publicUrl } = options;
  const source = sourceOf(options);
  const signer = a2a.signingKey && createCardSigner(a2a.signingKey, `${publicUrl}${KEY_SET_PATH}`);
  const signed = (card: JsonObject) => signer?.sign(card) ?? card;
  const edge = edgeOf(options, source);
  const endpoint = {
    ...options.endpoint,
    edge,
    ...(a2a.push && { push: options.push }),
    ...(source.extendedCard && {
      extendedCard: (tenant: string | undefined) =>
        signed(createAgentCard(source, tenant === undefined ? {} : { tenant })),
    }),
  };
  return {
    endpoints: [
      createA2AEndpoint({
        ...endpoint,
        path: source.path,
        ...(source.httpJsonPath === undefined ? {} : { httpJsonPath: source.httpJsonPath }),
      }),
    ],
    middlewares: [
      createAgentCardEndpoint({
        card: signed(createAgentCard(source)),
        ...(a2a.versions.includes('0.3') && {
          legacy: { card: createLegacyAgentCard(source), unsaid: !a2a.versions.includes('1.0') },
        }),
        ...(signer && { keySet: signer.keySet }),
        lastModified: endpoint.clock.now(),
        maxAgeSeconds: CARD_MAX_AGE_SECONDS,
      }),
    ],
    ...(source.grpcAddress !== undefined && { grpc: createGrpcEndpoint(endpoint) }),
  };
}

function sourceOf({ a2a, publicUrl, grpcAddress, agent, agentId }: A2aEdgeOptions): AgentCardSource {
  const { versions, streaming, requiredExtensions } = a2a;
  const about = { name: agentId, description: DESCRIPTION };
  return {
    ...about,
    version: packageVersion,
    publicUrl,
    path: '/a2a',
    ...(a2a.httpJson && versions.includes('1.0') ? { httpJsonPath: '/a2a/v1' } : {}),
    ...(grpcAddress === undefined ? {} : { grpcAddress }),
    versions,
    streaming,
    // 3.3.4: a config that is taken must be offered, and the other way round.
    pushNotifications: a2a.push !== undefined,
    // 13.3: only to callers who have proved who they are.
    extendedCard: a2a.auth.kind === 'jwt',
    auth: a2a.auth.kind,
    skills: skillsOf(agent, about),
    inputModes: agent.inputModes ?? ['text/plain', 'text/markdown', 'application/json'],
    outputModes: agent.outputModes ?? ['text/markdown', 'text/plain'],
    extensions: requiredExtensions.map((uri) => ({ uri, description: EXTENSION, required: true })),
  };
}

function edgeOf({ a2a, agentId, verifier }: A2aEdgeOptions, offer: AgentCardSource): Edge {
  const { auth, versions, streaming } = a2a;
  const common = {
    profile: a2aProfile(a2a),
    ...{ versions, streaming, offer },
    agent: agentId,
    deadlineMs: a2a.taskDeadlineMs,
  };
  if (auth.kind === 'anonymous') return createAnonymousEdge(common);
  return createJwtEdge({ ...common, ...auth, verify: verifier(auth) });
}
