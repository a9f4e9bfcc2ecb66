import type { JsonObject } from '../../core/message.ts';
import { type AgentCardSource, jsonRpcUrl, SCHEME, SCOPES } from './agent-card.ts';

/*
 * The card as clients of A2A 0.3 read it: they look for the address at its top, their schema wants it there, and a
 * security scheme of 1.0 is none to them. A document of its own, because the schema of 1.0 takes no field that it does
 * not know and a signature covers every byte. So it has no signature either.
 */

/** Only JSON-RPC is served for 0.3. */
export function createLegacyAgentCard(source: AgentCardSource): JsonObject {
  const { streaming, pushNotifications, extensions, auth } = source;
  const url = jsonRpcUrl(source);
  const card = {
    protocolVersion: '0.3.0',
    name: source.name,
    description: source.description,
    version: source.version,
    url,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: [{ url, transport: 'JSONRPC' }],
    provider: source.provider,
    documentationUrl: source.documentationUrl,
    iconUrl: source.iconUrl,
    capabilities: { streaming, pushNotifications, extensions: extensions.length > 0 ? extensions : undefined },
    supportsAuthenticatedExtendedCard: source.extendedCard,
    securitySchemes: auth === 'jwt' ? { bearer: { type: 'http', ...SCHEME } } : undefined,
    security: auth === 'jwt' ? [{ bearer: SCOPES }] : undefined,
    defaultInputModes: source.inputModes,
    defaultOutputModes: source.outputModes,
    skills: source.skills,
  };
  // Leaves out what is undefined.
  return JSON.parse(JSON.stringify(card)) as JsonObject;
}
