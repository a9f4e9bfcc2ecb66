import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import Koa from 'koa';
import { type AgentCardSource, createAgentCard, skillsOf } from '../../adapters/a2a/agent-card.ts';
import { AGENT_CARD_PATH, createAgentCardEndpoint, KEY_SET_PATH } from '../../adapters/a2a/agent-card-endpoint.ts';
import type { JsonObject } from '../../core/message.ts';

const SOURCE: AgentCardSource = {
  name: 'Harbor agent',
  description: 'Answers about work items',
  version: '1.2.3',
  publicUrl: 'https://agent.example/',
  path: '/a2a',
  httpJsonPath: '/a2a/v1',
  grpcAddress: 'agent.example:443',
  versions: ['0.3', '1.0'],
  streaming: true,
  pushNotifications: true,
  extendedCard: true,
  extensions: [{ uri: 'urn:harbor:seal', description: 'Sealed answers', required: true }],
  auth: 'jwt',
  skills: [{ id: 'brief', name: 'Brief', description: 'Sums a work item up', tags: ['jira'], examples: ['Sum it up'] }],
  inputModes: ['text/plain', 'application/json'],
  outputModes: ['text/markdown', 'text/plain'],
};

async function serveCard(
  t: TestContext,
  source: AgentCardSource = SOURCE,
  more: { readonly keySet?: JsonObject } = {},
): Promise<string> {
  const app = new Koa();
  app.use(
    createAgentCardEndpoint({
      card: createAgentCard(source),
      ...more,
      lastModified: Date.parse('2026-11-30T10:00:00Z'),
      maxAgeSeconds: 300,
    }),
  );
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${AGENT_CARD_PATH}`;
}

test('agent card: it is pure 1.0 in ProtoJSON [3.6-no-patch, 4.5.3-registered, 8.3-protocols, 8.3.1-preference]', () => {
  assert.deepEqual(createAgentCard(SOURCE), {
    name: 'Harbor agent',
    description: 'Answers about work items',
    version: '1.2.3',
    supportedInterfaces: [
      { url: 'https://agent.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: 'https://agent.example/a2a/v1', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: 'agent.example:443', protocolBinding: 'GRPC', protocolVersion: '1.0' },
      { url: 'https://agent.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ],
    capabilities: {
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: true,
      extensions: [{ uri: 'urn:harbor:seal', description: 'Sealed answers', required: true }],
    },
    securitySchemes: {
      bearer: {
        httpAuthSecurityScheme: {
          description: 'A token of the configured issuer, for this service as its audience',
          scheme: 'Bearer',
          bearerFormat: 'JWT',
        },
      },
    },
    securityRequirements: [{ schemes: { bearer: { list: ['a2a'] } } }],
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/markdown', 'text/plain'],
    skills: [
      { id: 'brief', name: 'Brief', description: 'Sums a work item up', tags: ['jira'], examples: ['Sum it up'] },
    ],
  });
});

test('agent card: it says what is off', () => {
  const { httpJsonPath: _, grpcAddress: __, ...jsonRpcOnly } = SOURCE;
  const off = { streaming: false, pushNotifications: false, extendedCard: false, extensions: [] } as const;
  const card = createAgentCard({ ...jsonRpcOnly, ...off, versions: ['1.0'], auth: 'anonymous' });
  assert.deepEqual(card.capabilities, { streaming: false, pushNotifications: false, extendedAgentCard: false });
  assert.equal((card.supportedInterfaces as unknown[]).length, 1);
  assert.equal('securitySchemes' in card || 'securityRequirements' in card, false);
});

test('agent card: with 0.3 alone there is neither an interface of 1.0 nor HTTP+JSON nor gRPC', () => {
  assert.deepEqual(createAgentCard({ ...SOURCE, versions: ['0.3'] }).supportedInterfaces, [
    { url: 'https://agent.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  ]);
});

test('agent card: a caller whose credentials name a tenant is told to name it, where the protocol has a place', () => {
  const interfaces = createAgentCard(SOURCE, { tenant: 't1' }).supportedInterfaces as readonly { tenant?: string }[];
  assert.deepEqual(
    interfaces.map(({ tenant }) => tenant),
    ['t1', 't1', 't1', undefined],
  );
});

const EMPTY: readonly (readonly [string, Partial<AgentCardSource>])[] = [
  ['name', { name: '' }],
  ['description', { description: '' }],
  ['version', { version: '' }],
  ['supportedInterfaces', { versions: [] }],
  ['defaultInputModes', { inputModes: [] }],
  ['defaultOutputModes', { outputModes: [] }],
  ['skills', { skills: [] }],
  ['skill s', { skills: [{ id: 's', name: 'S', description: 'S', tags: [] }] }],
];
for (const [field, changes] of EMPTY) {
  test(`agent card: an empty ${field} is refused when it is made [5.7-present]`, () => {
    assert.throws(() => createAgentCard({ ...SOURCE, ...changes }), new RegExp(`lacks ${field}`));
  });
}

test('agent card: an agent that names no skill is its own', () => {
  const own = [{ id: 'answer', name: 'Harbor agent', description: 'Answers', tags: ['agent'] }];
  for (const agent of [{}, { skills: [] }]) {
    assert.deepEqual(skillsOf(agent, { name: 'Harbor agent', description: 'Answers' }), own);
  }
  assert.deepEqual(skillsOf({ skills: SOURCE.skills }, SOURCE), SOURCE.skills);
});

test('agent card: everybody gets it, with what a cache needs [8.6.1-cache-control, 8.6.1-etag]', async (t) => {
  const response = await fetch(await serveCard(t));
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(response.headers.get('cache-control'), 'public, max-age=300');
  assert.equal(response.headers.get('last-modified'), 'Mon, 30 Nov 2026 10:00:00 GMT');
  assert.match(response.headers.get('etag') ?? '', /^"[A-Za-z0-9_-]{43}"$/);
  assert.deepEqual(await response.json(), createAgentCard(SOURCE));
});

test('agent card: who has it is told so, who has another one gets it [8.6-caching]', async (t) => {
  const url = await serveCard(t);
  const etag = (await fetch(url)).headers.get('etag') ?? '';
  for (const match of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    assert.deepEqual(await conditional(url, match), { status: 304, length: 0, etag }, match);
  }
  assert.equal((await conditional(url, '"other"')).status, 200);
});

test('key set: it is served beside a signed card, with its own tag, and not at all beside another one', async (t) => {
  const keySet = { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'AA', kid: 'k1' }] };
  const url = new URL(KEY_SET_PATH, await serveCard(t, SOURCE, { keySet }));
  const response = await fetch(url);
  assert.deepEqual(await response.json(), keySet);
  assert.equal(response.headers.get('cache-control'), 'public, max-age=300');
  const etag = response.headers.get('etag') ?? '';
  assert.deepEqual(await conditional(url.href, etag), { status: 304, length: 0, etag });
  assert.equal((await fetch(new URL(KEY_SET_PATH, await serveCard(t)))).status, 404);
});

test('agent card: it changes its tag with its text', async (t) => {
  const one = (await fetch(await serveCard(t))).headers.get('etag');
  const two = (await fetch(await serveCard(t, { ...SOURCE, version: '1.2.4' }))).headers.get('etag');
  assert.notEqual(one, two);
});

test('agent card: no header of a request gets into it', async (t) => {
  const url = new URL(await serveCard(t));
  const headers = { Host: 'evil.example', 'X-Forwarded-Proto': 'http', 'X-Forwarded-Host': 'evil.example' };
  const { text } = await get(url, headers);
  assert.doesNotMatch(text, /evil|http:/);
  assert.match(text, /"https:\/\/agent\.example\/a2a"/);
});

test('agent card: HEAD has no body, other methods are not allowed', async (t) => {
  const url = await serveCard(t);
  const head = await fetch(url, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.ok(head.headers.get('etag'));
  assert.equal(await head.text(), '');
  assert.equal((await fetch(url, { method: 'POST' })).status, 405);
});

async function conditional(url: string, match: string) {
  const { status, text, etag } = await get(new URL(url), { 'If-None-Match': match });
  return { status, length: text.length, etag };
}

/** Not fetch: that one sets Host, and adds `Cache-Control: no-cache` to a conditional request. */
function get(
  url: URL,
  headers: Record<string, string>,
): Promise<{ status: number | undefined; text: string; etag: string | undefined }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, text, etag: response.headers.etag }));
    });
    asked.on('error', reject).end();
  });
}
