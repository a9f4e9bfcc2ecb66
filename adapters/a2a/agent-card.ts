import { AgentCard } from '@a2a-js/sdk';
import type { JsonObject } from '../../core/message.ts';
import type { AgentSkill } from '../../core/ports/agent.ts';

/** Everything that the card says. Nothing of it is taken from a request. */
export interface AgentCardSource {
  readonly name: string;
  readonly description: string;
  /** Of the agent, not of the protocol. */
  readonly version: string;
  /** PUBLIC_URL. */
  readonly publicUrl: string;
  /** Path of the JSON-RPC endpoint. */
  readonly path: string;
  /** Protocol versions it serves. */
  readonly versions: readonly string[];
  readonly streaming: boolean;
  readonly auth: 'jwt' | 'anonymous';
  readonly skills: readonly AgentSkill[];
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly documentationUrl?: string;
  readonly iconUrl?: string;
}

/** Newest first: a client takes the first interface that it speaks (8.3.1). */
const VERSIONS = ['1.0', '0.3'];
/** A requirement without a scope would be an empty value, which SDKs drop when they canonicalise a signed card. */
const SCOPES = ['a2a'];
const REQUIRED = ['name', 'description', 'version', 'supportedInterfaces', 'defaultInputModes', 'defaultOutputModes'];

/** The A2A 1.0 agent card in ProtoJSON. Throws when a required field would be empty. */
export function createAgentCard(source: AgentCardSource): JsonObject {
  const url = `${source.publicUrl.replace(/\/+$/, '')}${source.path}`;
  const skills = source.skills.length > 0 ? source.skills : [wholeAgent(source)];
  const served = VERSIONS.filter((version) => source.versions.includes(version));
  const card = AgentCard.toJSON(
    AgentCard.fromJSON({
      name: source.name,
      description: source.description,
      version: source.version,
      supportedInterfaces: served.map((protocolVersion) => ({ url, protocolBinding: 'JSONRPC', protocolVersion })),
      provider: source.provider,
      documentationUrl: source.documentationUrl,
      iconUrl: source.iconUrl,
      capabilities: { streaming: source.streaming, pushNotifications: false, extendedAgentCard: false },
      ...(source.auth === 'jwt' ? BEARER : {}),
      defaultInputModes: source.inputModes,
      defaultOutputModes: source.outputModes,
      skills,
    }),
  ) as JsonObject;
  refuseEmpty(card, skills);
  return card;
}

const BEARER = {
  securitySchemes: {
    bearer: {
      httpAuthSecurityScheme: {
        description: 'A token of the configured issuer, for this service as its audience',
        scheme: 'Bearer',
        bearerFormat: 'JWT',
      },
    },
  },
  securityRequirements: [{ schemes: { bearer: { list: SCOPES } } }],
};

/** An agent that says nothing about its skills has one: itself. */
function wholeAgent({ name, description }: AgentCardSource): AgentSkill {
  return { id: 'answer', name, description, tags: ['agent'] };
}

function refuseEmpty(card: JsonObject, skills: readonly AgentSkill[]): void {
  // The codec leaves an empty value out, so what is empty is absent here.
  const missing = REQUIRED.filter((field) => !(field in card));
  for (const skill of skills) {
    const complete = skill.id !== '' && skill.name !== '' && skill.description !== '' && skill.tags.length > 0;
    if (!complete) missing.push(`skill ${skill.id}: id, name, description or tags`);
  }
  if (missing.length > 0) throw new Error(`the agent card lacks ${missing.join(', ')}`);
}
