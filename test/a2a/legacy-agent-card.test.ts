import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import Koa from 'koa';
import { type AgentCardSource, createAgentCard } from '../../adapters/a2a/agent-card.ts';
import { AGENT_CARD_PATH, createAgentCardEndpoint, KEY_SET_PATH } from '../../adapters/a2a/agent-card-endpoint.ts';
import { createLegacyAgentCard } from '../../adapters/a2a/legacy-agent-card.ts';

const SOURCE: AgentCardSource = {
  ...{ name: 'Harbor agent', description: 'Answers about work items', version: '1.2.3' },
  ...{ publicUrl: 'https://agent.example/', path: '/a2a', httpJsonPath: '/a2a/v1', versions: ['1.0', '0.3'] },
  ...{ streaming: true, pushNotifications: false, extendedCard: true, auth: 'jwt' },
  extensions: [{ uri: 'urn:harbor:seal', description: 'Sealed answers', required: true }],
  skills: [{ id: 'brief', name: 'Brief', description: 'Sums a work item up', tags: ['jira'] }],
  ...{ inputModes: ['text/plain'], outputModes: ['text/markdown'] },
};
const CARD = createAgentCard(SOURCE);
const LEGACY = createLegacyAgentCard(SOURCE);

type Legacy = NonNullable<Parameters<typeof createAgentCardEndpoint>[0]['legacy']>;

async function serveCards(t: TestContext, legacy?: Legacy): Promise<string> {
  const app = new Koa();
  const keySet = { keys: [] };
  app.use(
    createAgentCardEndpoint({ card: CARD, keySet, ...(legacy && { legacy }), lastModified: 0, maxAgeSeconds: 300 }),
  );
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function get(origin: string, { said = '', path = AGENT_CARD_PATH }: { said?: string; path?: string } = {}) {
  const response = await fetch(`${origin}${path}`, said === '' ? {} : { headers: { 'A2A-Version': said } });
  const { headers } = response;
  return { json: await response.json(), vary: headers.get('vary'), etag: headers.get('etag') ?? '' };
}

test('agent card of 0.3: the address is at its top, and only what is served for 0.3 is on it', () => {
  assert.deepEqual(LEGACY, {
    ...{ protocolVersion: '0.3.0', name: 'Harbor agent', description: 'Answers about work items', version: '1.2.3' },
    ...{ url: 'https://agent.example/a2a', preferredTransport: 'JSONRPC' },
    additionalInterfaces: [{ url: 'https://agent.example/a2a', transport: 'JSONRPC' }],
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extensions: [{ uri: 'urn:harbor:seal', description: 'Sealed answers', required: true }],
    },
    supportsAuthenticatedExtendedCard: true,
    securitySchemes: {
      bearer: {
        type: 'http',
        description: 'A token of the configured issuer, for this service as its audience',
        scheme: 'Bearer',
        bearerFormat: 'JWT',
      },
    },
    security: [{ bearer: ['a2a'] }],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/markdown'],
    skills: [{ id: 'brief', name: 'Brief', description: 'Sums a work item up', tags: ['jira'] }],
  });
});

test('agent card of 0.3: without credentials to bring it names no scheme', () => {
  const open = createLegacyAgentCard({ ...SOURCE, auth: 'anonymous', extensions: [] });
  assert.equal('securitySchemes' in open || 'security' in open, false);
  assert.deepEqual(open.capabilities, { streaming: true, pushNotifications: false });
});

test('agent card: who says 0.3 gets the one of 0.3, by header or query, everybody else the one of 1.0', async (t) => {
  const origin = await serveCards(t, { card: LEGACY, unsaid: false });
  const query = (version: string) => `${AGENT_CARD_PATH}?A2A-Version=${version}`;
  for (const said of ['0.3', '0.3.0', ' 0.3 ']) assert.deepEqual((await get(origin, { said })).json, LEGACY, said);
  assert.deepEqual((await get(origin, { path: query('0.3') })).json, LEGACY);
  for (const said of ['', '1.0', '2.0', 'abc']) assert.deepEqual((await get(origin, { said })).json, CARD, said);
  assert.deepEqual((await get(origin, { path: query('1.0') })).json, CARD);
  assert.deepEqual((await get(origin, { said: '1.0', path: query('0.3') })).json, CARD, 'the header wins');
});

test('agent card: caches keep the two apart', async (t) => {
  const origin = await serveCards(t, { card: LEGACY, unsaid: false });
  const [legacy, current] = [await get(origin, { said: '0.3' }), await get(origin)];
  assert.deepEqual([legacy.vary, current.vary], ['A2A-Version', 'A2A-Version']);
  assert.notEqual(legacy.etag, current.etag);
  const revalidated = await fetch(`${origin}${AGENT_CARD_PATH}`, {
    // fetch would add `no-cache` otherwise, which asks for the body.
    headers: { 'A2A-Version': '0.3', 'If-None-Match': legacy.etag, 'Cache-Control': 'max-age=0' },
  });
  assert.equal(revalidated.status, 304);
  assert.equal((await get(origin, { said: '0.3', path: KEY_SET_PATH })).vary, null, 'the key set has one form');
});

test('agent card: where 0.3 alone is served, nobody has to say so', async (t) => {
  const origin = await serveCards(t, { card: LEGACY, unsaid: true });
  assert.deepEqual((await get(origin)).json, LEGACY);
  assert.deepEqual((await get(origin, { said: '1.0' })).json, CARD);
});

test('agent card: where 0.3 is off there is one form for everybody', async (t) => {
  const origin = await serveCards(t);
  const { json, vary } = await get(origin, { said: '0.3' });
  assert.deepEqual([json, vary], [CARD, null]);
});
