import { AgentCard } from '@a2a-js/sdk';
import type { JsonObject } from '../../core/message.ts';
import type { AgentSkill } from '../../core/ports/agent.ts';
import type { Offer } from './offer.ts';

/** Everything that the card says, what callers are held to among it. Nothing of it is taken from a request. */
export interface AgentCardSource extends Offer {
  readonly name: string;
  readonly description: string;
  /** Of the agent, not of the protocol. */
  readonly version: string;
  /** PUBLIC_URL. */
  readonly publicUrl: string;
  /** Path of the JSON-RPC endpoint. */
  readonly path: string;
  /** Path of HTTP+JSON, which is served for 1.0; absent: it is off. */
  readonly httpJsonPath?: string;
  /** Where gRPC is served, for 1.0, as `host:port`; absent: it is off. */
  readonly grpcAddress?: string;
  /** Protocol versions it serves. */
  readonly versions: readonly string[];
  readonly streaming: boolean;
  readonly pushNotifications: boolean;
  /** The caller's own card is to be had (GetExtendedAgentCard). */
  readonly extendedCard: boolean;
  readonly auth: 'jwt' | 'anonymous';
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
}

/** A requirement without a scope would be an empty value, which SDKs drop when they canonicalise a signed card. */
export const SCOPES = ['a2a'];
/** What a client has to bring, in the words of OpenAPI, which both versions of the card use. */
export const SCHEME = {
  description: 'A token of the configured issuer, for this service as its audience',
  scheme: 'Bearer',
  bearerFormat: 'JWT',
};
const REQUIRED = ['name', 'description', 'version', 'supportedInterfaces', 'defaultInputModes', 'defaultOutputModes'];

/** An agent that says nothing about its skills has one: itself. */
export function skillsOf(
  agent: { readonly skills?: readonly AgentSkill[] },
  { name, description }: { readonly name: string; readonly description: string },
): readonly AgentSkill[] {
  if (agent.skills !== undefined && agent.skills.length > 0) return agent.skills;
  return [{ id: 'answer', name, description, tags: ['agent'] }];
}

/**
 * The A2A 1.0 agent card in ProtoJSON, without signatures. `tenant`: by what name a caller's credentials know its tenant,
 * for the caller's own card. Throws when a required field would be empty.
 */
export function createAgentCard(source: AgentCardSource, caller: { readonly tenant?: string } = {}): JsonObject {
  const { streaming, pushNotifications, extendedCard, extensions } = source;
  const card = AgentCard.toJSON(
    AgentCard.fromJSON({
      name: source.name,
      description: source.description,
      version: source.version,
      supportedInterfaces: interfacesOf(source, caller.tenant),
      provider: source.provider,
      documentationUrl: source.documentationUrl,
      iconUrl: source.iconUrl,
      capabilities: { streaming, pushNotifications, extendedAgentCard: extendedCard, extensions },
      ...(source.auth === 'jwt' ? BEARER : {}),
      defaultInputModes: source.inputModes,
      defaultOutputModes: source.outputModes,
      skills: source.skills,
    }),
  ) as JsonObject;
  refuseEmpty(card, source.skills);
  return card;
}

/** The newest version first, JSON-RPC before HTTP+JSON and gRPC: a client takes the first interface that it speaks (8.3.1). */
function interfacesOf(source: AgentCardSource, tenant: string | undefined): readonly JsonObject[] {
  const jsonRpc = { url: jsonRpcUrl(source), protocolBinding: 'JSONRPC' };
  const interfaces: JsonObject[] = [];
  if (source.versions.includes('1.0')) {
    const more = { protocolVersion: '1.0', ...(tenant === undefined ? {} : { tenant }) };
    interfaces.push({ ...jsonRpc, ...more });
    if (source.httpJsonPath !== undefined) {
      interfaces.push({ url: urlOf(source, source.httpJsonPath), protocolBinding: 'HTTP+JSON', ...more });
    }
    if (source.grpcAddress !== undefined) {
      interfaces.push({ url: source.grpcAddress, protocolBinding: 'GRPC', ...more });
    }
  }
  if (source.versions.includes('0.3')) interfaces.push({ ...jsonRpc, protocolVersion: '0.3' });
  return interfaces;
}

export const jsonRpcUrl = (source: AgentCardSource): string => urlOf(source, source.path);

function urlOf({ publicUrl }: AgentCardSource, path: string): string {
  return `${publicUrl.replace(/\/+$/, '')}${path}`;
}

const BEARER = {
  securitySchemes: { bearer: { httpAuthSecurityScheme: SCHEME } },
  securityRequirements: [{ schemes: { bearer: { list: SCOPES } } }],
};

function refuseEmpty(card: JsonObject, skills: readonly AgentSkill[]): void {
  // The codec leaves an empty value out, so what is empty is absent here.
  const missing = REQUIRED.filter((field) => !(field in card));
  if (skills.length === 0) missing.push('skills');
  for (const skill of skills) {
    const complete = skill.id !== '' && skill.name !== '' && skill.description !== '' && skill.tags.length > 0;
    if (!complete) missing.push(`skill ${skill.id}: id, name, description or tags`);
  }
  if (missing.length > 0) throw new Error(`the agent card lacks ${missing.join(', ')}`);
}
