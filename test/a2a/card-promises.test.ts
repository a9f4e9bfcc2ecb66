import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, test } from 'node:test';
import { script, startWorld, type World, type WorldOptions } from '../e2e/world.ts';
import { type GrpcClient, grpcClient, type Operation } from './grpc.ts';
import { type HttpAnswer, type Person, personAt } from './person.ts';

/*
 * The card of the shipped service is read and believed: each capability, mode and skill is called over each binding that
 * it lists, and so is the opposite. Two services: one that offers everything and one that offers as little as it can.
 */

const EXTENSION = 'urn:harbor:seal';
const SIGNING_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const EVERYTHING = {
  ...{ A2A_PUSH: 'on', GRPC_PORT: '0', A2A_REQUIRED_EXTENSIONS: EXTENSION },
  A2A_CARD_SIGNING_KEY: JSON.stringify({ ...SIGNING_KEY, kid: 'harbor' }),
};
const CONTENT: Readonly<Record<string, object>> = {
  'application/json': { data: { a: 1 } },
  'image/png': { raw: 'AA==' },
};
const LITTLE = { A2A_STREAMING: 'off', A2A_AUTH: 'anonymous', A2A_HTTP_JSON: 'off', A2A_VERSIONS: '1.0' };

/** One binding, as a client that has read the card calls it. */
interface Client {
  /** Answers the result, or the reason of the refusal. */
  call(operation: string, params?: object, headers?: Readonly<Record<string, string>>): Promise<unknown>;
}

interface Setup {
  readonly world: World;
  // biome-ignore lint/suspicious/noExplicitAny: a card is read as a client reads it
  readonly card: any;
  /** By protocolBinding. */
  readonly clients: ReadonlyMap<string, Client>;
  readonly person: Person;
}

let full: Setup;
let little: Setup;
before(async () => {
  [full, little] = await Promise.all([
    setup({ agent: 'rerun', settings: EVERYTHING }, 'alice'),
    setup({ agent: 'review', settings: LITTLE }, null),
  ]);
});
const closing: (() => void)[] = [];
after(async () => {
  for (const close of closing) close();
  await Promise.all([full.world.close(), little.world.close()]);
});

async function setup(options: WorldOptions, subject: string | null): Promise<Setup> {
  const world = await startWorld(options);
  const { origin } = world.service();
  const card = (await (await fetch(`${origin}/.well-known/agent-card.json`)).json()) as Setup['card'];
  const person = await personAt(world, subject);
  const required: readonly { uri: string; required?: boolean }[] = card.capabilities.extensions ?? [];
  const headers = { 'A2A-Extensions': required.flatMap((each) => (each.required ? [each.uri] : [])).join() };
  const clients = new Map<string, Client>();
  for (const { protocolBinding, protocolVersion, url } of card.supportedInterfaces) {
    if (protocolVersion !== '1.0') continue;
    if (protocolBinding === 'GRPC') {
      assert.match(url, /^127\.0\.0\.1:\d+$/);
      const token = subject === null ? {} : { authorization: `Bearer ${await world.issuer.token(subject)}` };
      clients.set(
        protocolBinding,
        overGrpc(grpcClient({ after: (close) => void closing.push(close) }, url, token), headers),
      );
      continue;
    }
    assert.ok(url.startsWith(origin), url);
    const make = protocolBinding === 'JSONRPC' ? rpcClient : restClient;
    clients.set(protocolBinding, make(person, headers));
  }
  return { world, card, clients, person };
}

const reasonOf = (details: readonly { readonly reason?: string }[]) => details[0]?.reason;

function outcome(answer: HttpAnswer): unknown {
  if (answer.headers.get('content-type') === 'text/event-stream') return 'stream';
  const { error, result } = answer.json;
  if (error) return reasonOf(error.details ?? error.data);
  return 'jsonrpc' in answer.json ? result : answer.json;
}

function rpcClient(person: Person, own: Readonly<Record<string, string>>): Client {
  return {
    call: async (operation, params = {}, headers = own) => outcome(await person.rpc(operation, params, headers)),
  };
}

function restClient(person: Person, own: Readonly<Record<string, string>>): Client {
  const lines: Record<string, (ids: { id?: string; taskId?: string }) => string> = {
    SendMessage: () => 'POST /message:send',
    SendStreamingMessage: () => 'POST /message:stream',
    SubscribeToTask: ({ id }) => `POST /tasks/${id}:subscribe`,
    GetTask: ({ id }) => `GET /tasks/${id}`,
    GetExtendedAgentCard: () => 'GET /extendedAgentCard',
    ListTaskPushNotificationConfigs: ({ taskId }) => `GET /tasks/${taskId}/pushNotificationConfigs`,
    CreateTaskPushNotificationConfig: ({ taskId }) => `POST /tasks/${taskId}/pushNotificationConfigs`,
  };
  return {
    async call(operation, params = {}, headers = own) {
      const line = lines[operation]?.(params) ?? assert.fail(operation);
      return outcome(await person.rest(line, line.startsWith('POST') ? { headers, body: params } : { headers }));
    },
  };
}

function overGrpc(client: GrpcClient, own: Readonly<Record<string, string>>): Client {
  return {
    async call(operation, params = {}, headers = own) {
      const metadata = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text]));
      const name = operation as Operation;
      const streams = name === 'SendStreamingMessage' || name === 'SubscribeToTask';
      const reply = await (streams ? client.read : client.ask)(name, params, { metadata });
      if (reply.reason !== undefined) return reply.reason;
      return 'json' in reply ? reply.json : 'stream';
    },
  };
}

/** What both services are asked, over every binding of each card. */
async function everywhere(check: (client: Client, setup: Setup, name: string) => Promise<void>): Promise<void> {
  for (const each of [full, little]) {
    for (const [name, client] of each.clients) await check(client, each, name);
  }
}

async function taskOf(client: Client, lines: readonly string[], more: object = {}): Promise<string> {
  const { task } = (await client.call('SendMessage', { ...script(lines), ...more })) as { task: { id: string } };
  return task.id;
}

test('card: both services list what they serve, and nothing else answers [5.2-declared, 8.3.1-accurate, 8.1-card, 14.3-card]', async () => {
  assert.deepEqual([...full.clients.keys()], ['JSONRPC', 'HTTP+JSON', 'GRPC']);
  assert.deepEqual([...little.clients.keys()], ['JSONRPC']);
  assert.equal((await little.person.rest('GET /tasks')).status, 404);
  assert.deepEqual(
    full.card.supportedInterfaces.map((each: { protocolVersion: string }) => each.protocolVersion),
    ['1.0', '1.0', '1.0', '0.3'],
  );
  const legacy = { 'A2A-Version': '0.3', 'X-A2A-Extensions': EXTENSION };
  const listed = await full.person.rpc('tasks/get', { id: 'nope' }, legacy);
  assert.equal(listed.json.error.code, -32001);
  assert.equal((await little.person.rpc('tasks/get', { id: 'nope' }, legacy)).json.error.code, -32009);
});

test('card: a client of 0.3 finds its own form of the card where 0.3 is served, and is answered at its address', async () => {
  const read = async ({ world }: Setup) => {
    const answer = await fetch(`${world.service().origin}/.well-known/agent-card.json?A2A-Version=0.3`);
    return (await answer.json()) as Setup['card'];
  };
  const { url, protocolVersion, preferredTransport } = await read(full);
  assert.deepEqual(
    [url, protocolVersion, preferredTransport],
    [`${full.world.service().origin}/a2a`, '0.3.0', 'JSONRPC'],
  );
  assert.deepEqual(await read(little), little.card);
});

test('card: streaming is served where it is offered and refused where it is not [3.3.4-streaming]', async () => {
  await everywhere(async (client, { card }) => {
    const offered = card.capabilities.streaming;
    const streamed = await client.call('SendStreamingMessage', script(['complete Done.']));
    assert.equal(streamed, offered ? 'stream' : 'UNSUPPORTED_OPERATION');
    const id = await taskOf(client, ['complete Done.']);
    assert.equal(
      await client.call('SubscribeToTask', { id }),
      'UNSUPPORTED_OPERATION',
      'it has ended, or is not offered',
    );
  });
  assert.deepEqual([full.card.capabilities.streaming, little.card.capabilities.streaming], [true, false]);
});

test('card: push configs are taken where they are offered and refused where they are not [3.3.4-push]', async () => {
  await everywhere(async (client, { card }) => {
    const offered = card.capabilities.pushNotifications;
    const taskId = await taskOf(client, ['complete Done.']);
    const config = { url: 'https://hooks.harbor.example/x' };
    const created = await client.call('CreateTaskPushNotificationConfig', { taskId, ...config });
    const listed = await client.call('ListTaskPushNotificationConfigs', { taskId });
    const inline = await client.call('SendMessage', {
      ...script(['complete Done.']),
      configuration: { taskPushNotificationConfig: config },
    });
    if (offered) {
      assert.deepEqual(listed, { configs: [created] });
      assert.ok('task' in (inline as object));
      return;
    }
    for (const refused of [created, listed, inline]) assert.equal(refused, 'PUSH_NOTIFICATION_NOT_SUPPORTED');
  });
  assert.deepEqual(
    [full.card.capabilities.pushNotifications, little.card.capabilities.pushNotifications],
    [true, false],
  );
});

test('card: the extended card is to be had where it is offered, by those who say who they are [3.3.4-extended-card, 13.3-not-declared, 13.3-authenticated, 13.3-permission, 13.3-caching, 13.3-no-secrets, 13.3-version, 14.3-extended]', async () => {
  await everywhere(async (client, { card }, name) => {
    const extended = await client.call('GetExtendedAgentCard');
    if (!card.capabilities.extendedAgentCard) {
      assert.equal(extended, 'UNSUPPORTED_OPERATION');
      return;
    }
    const { signatures: _, supportedInterfaces, ...rest } = extended as typeof card;
    const { signatures: __, supportedInterfaces: publicOnes, ...expected } = card;
    assert.deepEqual(rest, expected, name);
    // The caller's own: its tenant is what the token says.
    assert.deepEqual(
      supportedInterfaces,
      publicOnes.map((each: { protocolVersion: string }) =>
        each.protocolVersion === '1.0' ? { ...each, tenant: 't1' } : each,
      ),
    );
  });
  assert.deepEqual(
    [full.card.capabilities.extendedAgentCard, little.card.capabilities.extendedAgentCard],
    [true, false],
  );
  const other = await personAt(full.world, null);
  assert.equal((await other.rest('GET /extendedAgentCard')).status, 401);
  for (const answer of [
    await full.person.rpc('GetExtendedAgentCard', {}),
    await full.person.rest('GET /extendedAgentCard'),
  ]) {
    assert.equal(answer.headers.get('cache-control'), 'no-store', 'it is this caller’s alone');
  }
});

test('card: a required extension is required by every operation but the one that tells of it [3.3.4-extensions]', async () => {
  assert.deepEqual(
    full.card.capabilities.extensions.map((each: { uri: string; required: boolean }) => [each.uri, each.required]),
    [[EXTENSION, true]],
  );
  assert.equal('extensions' in little.card.capabilities, false);
  for (const client of full.clients.values()) {
    for (const operation of ['SendMessage', 'SendStreamingMessage', 'GetTask', 'SubscribeToTask']) {
      assert.equal(await client.call(operation, { id: 'x' }, {}), 'EXTENSION_SUPPORT_REQUIRED', operation);
    }
    assert.equal(typeof (await client.call('GetExtendedAgentCard', {}, {})), 'object');
  }
});

test('card: every input mode is taken and another one is not [3.1.1-media-type]', async () => {
  await everywhere(async (client, { card }) => {
    for (const mediaType of card.defaultInputModes) {
      const { message } = script(['complete Done.']);
      const parts = [...message.parts, { ...(CONTENT[mediaType] ?? { text: '# a comment' }), mediaType }];
      assert.ok(await taskOf(client, [], { message: { ...message, parts } }), mediaType);
    }
    const { message } = script(['complete Done.']);
    const parts = [...message.parts, { raw: 'AA==', mediaType: 'application/x-harbor' }];
    const refused = await client.call('SendMessage', { message: { ...message, parts } });
    assert.equal(refused, 'CONTENT_TYPE_NOT_SUPPORTED');
  });
  assert.ok(full.card.defaultInputModes.includes('image/png'), 'what the agent itself names');
  assert.deepEqual(little.card.defaultInputModes, ['text/plain', 'text/markdown', 'application/json']);
});

test('card: every output mode may be asked for, and another one alone may not', async () => {
  await everywhere(async (client, { card }) => {
    for (const mode of card.defaultOutputModes) {
      assert.ok(await taskOf(client, ['complete'], { configuration: { acceptedOutputModes: [mode] } }), mode);
    }
    const params = { ...script(['complete']), configuration: { acceptedOutputModes: ['video/x-harbor'] } };
    assert.equal(await client.call('SendMessage', params), 'CONTENT_TYPE_NOT_SUPPORTED');
  });
});

test('card: every skill may be named, and another one may not', async () => {
  await everywhere(async (client, { card }) => {
    assert.ok(card.skills.length > 0);
    for (const { id } of card.skills) assert.ok(await taskOf(client, ['complete'], { metadata: { skillId: id } }), id);
    const refused = await client.call('SendMessage', { ...script(['complete']), metadata: { skillId: 'harbor' } });
    assert.equal(refused, 'INVALID_PARAMS');
  });
});

test('card: its security is the one that is asked for [13.3-scheme]', async () => {
  assert.deepEqual(full.card.securityRequirements, [{ schemes: { bearer: { list: ['a2a'] } } }]);
  assert.equal(full.card.securitySchemes.bearer.httpAuthSecurityScheme.scheme, 'Bearer');
  const nobody = await personAt(full.world, null);
  assert.equal((await nobody.rpc('GetTask', { id: 'x' })).status, 401);
  assert.equal('securitySchemes' in little.card || 'securityRequirements' in little.card, false);
  assert.equal((await little.person.rpc('GetTask', { id: 'x' })).json.error.code, -32001);
});

test('card: it is signed where there is a key, and the key is served without its secret', async () => {
  const keySet = `${full.world.service().origin}/.well-known/jwks.json`;
  const [signature] = full.card.signatures;
  const header = JSON.parse(Buffer.from(signature.protected, 'base64url').toString());
  assert.deepEqual(header, { alg: 'ES256', jku: keySet, kid: 'harbor', typ: 'JOSE' });
  const { keys } = (await (await fetch(keySet)).json()) as { keys: readonly Record<string, string>[] };
  assert.deepEqual(keys, [
    { kty: 'EC', crv: 'P-256', x: SIGNING_KEY.x, y: SIGNING_KEY.y, kid: 'harbor', alg: 'ES256', use: 'sig' },
  ]);
  assert.equal('signatures' in little.card, false);
  assert.equal((await fetch(`${little.world.service().origin}/.well-known/jwks.json`)).status, 404);
});
