import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SendMessageRequest } from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { ERROR_TABLE } from '../../adapters/a2a/error-table.ts';
import { DomainError, ERROR_CODES } from '../../core/errors.ts';
import type { Part } from '../../core/message.ts';
import type { Operations } from '../../core/operations/operations.ts';
import type { Incoming } from '../../core/ports/edge.ts';
import { assertEnded, CALLS, grpcClient, type Operation } from './grpc.ts';
import { send } from './rpc.ts';
import { framesOf, scriptedOperations, statusFrame, taskIn, textFrame } from './scripted-operations.ts';
import { edgeOf, OWNER } from './serve.ts';
import { type GrpcServed, serveGrpc } from './serve-grpc.ts';

const TASK = taskIn('TASK_STATE_COMPLETED');

function incoming(served: GrpcServed): Incoming {
  const args = served.operations.callsOf('sendMessage').at(-1);
  assert.ok(args, 'sendMessage was not called');
  return args[1] as Incoming;
}

test('gRPC: the service has the operations of the specification, and each is served', async (t) => {
  const { address } = await serveGrpc(t);
  const client = grpcClient(t, address);
  assert.deepEqual(
    Object.values(CALLS)
      .map(({ path }) => path)
      .sort(),
    Object.values(A2AService)
      .map(({ path }) => path)
      .sort(),
  );
  for (const [operation, { path }] of Object.entries(CALLS)) {
    assert.equal(path, `/lf.a2a.v1.A2AService/${operation}`);
    const { code } = await client.ask(operation as Operation, {});
    assert.notEqual(code, 'UNIMPLEMENTED', operation);
  }
});

const UNARY: readonly (readonly [Operation, keyof Operations, object, unknown])[] = [
  ['SendMessage', 'sendMessage', send(), { task: TASK }],
  ['SendMessage', 'sendMessage', send({}, { tenant: 't1' }), { task: TASK }],
  ['GetTask', 'getTask', { id: 't1' }, TASK],
  ['CancelTask', 'cancelTask', { id: 't1', metadata: {} }, taskIn('TASK_STATE_CANCELED')],
  ['ListTasks', 'listTasks', {}, { tasks: [TASK], nextPageToken: 'n', pageSize: 1, totalSize: 3 }],
];
for (const [operation, name, params, result] of UNARY) {
  test(`gRPC: ${operation} ${JSON.stringify(params).slice(0, 30)} is ${name}`, async (t) => {
    const listTasks = async () => ({ tasks: [TASK], totalSize: 3, pageSize: 1, nextPageToken: 'n' });
    const served = await serveGrpc(t, { operations: scriptedOperations({ listTasks }) });
    const reply = await grpcClient(t, served.address).ask(operation, params);
    assert.equal(reply.code, 'OK', reply.text);
    assert.deepEqual(reply.json, result);
    assert.deepEqual(
      served.operations.calls.map((call) => call.operation),
      [name],
    );
    assert.deepEqual(served.counts.get('a2a_requests_total'), [{ edge: 'test', method: operation, outcome: 'ok' }]);
  });
}

test('gRPC: ListTasks hands every field over, and none that was left out', async (t) => {
  const served = await serveGrpc(t);
  const client = grpcClient(t, served.address);
  await client.ask('ListTasks', {
    contextId: 'c 1',
    status: 'TASK_STATE_WORKING',
    pageSize: 2,
    pageToken: '2',
    historyLength: 0,
    statusTimestampAfter: '2026-11-30T09:00:00.250Z',
    includeArtifacts: true,
  });
  await client.ask('ListTasks', {});
  await client.ask('ListTasks', { pageSize: 0 });
  const [full, none, zero] = served.operations.callsOf('listTasks').map(([, query]) => query);
  assert.deepEqual(full, {
    filter: { contextId: 'c 1', state: 'TASK_STATE_WORKING', statusSince: Date.parse('2026-11-30T09:00:00.250Z') },
    ...{ pageSize: 2, pageToken: '2', historyLength: 0, includeArtifacts: true },
  });
  assert.deepEqual(none, { filter: {}, pageSize: 50, includeArtifacts: false });
  assert.deepEqual(zero, none, 'a number that nobody set');
});

test('gRPC: a message goes over whole, with every kind of part, and comes back the same', async (t) => {
  const parts: readonly Part[] = [
    { text: '' },
    { text: 'a\u2028🏮\ufeff' },
    { raw: Buffer.from([0, 255, 128]).toString('base64'), filename: 'a.bin', mediaType: 'image/png' },
    { url: 'https://example.test/a', metadata: { a: { b: [1, null, true] } } },
    { data: null, mediaType: 'application/json' },
    { data: { list: [1.5, { deep: [] }, 'x', null, false], none: {} } },
    { data: 'text' },
    { data: -0.5 },
  ];
  const message = { contextId: 'c1', extensions: ['urn:a'], referenceTaskIds: ['t9'], metadata: { k: 'v' }, parts };
  const served = await serveGrpc(t, {
    operations: scriptedOperations({
      sendMessage: async (_edge, { message }) => ({ task: { ...TASK, history: [message] } }),
    }),
  });
  const request = SendMessageRequest.fromJSON(send(message, { metadata: { x: 1 } }));
  // fromJSON loses a null, which is the client's fault and not ours.
  for (const part of request.message?.parts ?? []) part.content ??= { $case: 'data', value: null };
  const bytes = A2AService.sendMessage.requestSerialize(request);
  const reply = await grpcClient(t, served.address).ask('SendMessage', bytes);
  const whole = { messageId: 'm1', role: 'ROLE_USER', ...message };
  assert.deepEqual(incoming(served).message, whole);
  assert.deepEqual(reply.json.task.history, [whole]);
  assert.deepEqual(incoming(served).caller, { owner: OWNER, binding: 'test', version: '1.0' });
});

test('gRPC: field numbers are those of a2a.proto, written and read without the SDK', async (t) => {
  const served = await serveGrpc(t);
  const part = new BinaryWriter().tag(1, 2).string('hi').finish();
  const message = new BinaryWriter()
    .tag(1, 2)
    .string('m1')
    .tag(4, 0)
    .int32(1)
    .tag(5, 2)
    .bytes(part)
    .tag(99, 2)
    .string('of a later version');
  const bytes = new BinaryWriter().tag(2, 2).bytes(message.finish()).finish();
  const client = grpcClient(t, served.address);
  assert.equal((await client.ask('SendMessage', bytes)).code, 'OK');
  assert.deepEqual(incoming(served).message, { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] });
  const raw = await new Promise<Buffer>((resolve) =>
    client.open('GetTask', new BinaryWriter().tag(2, 2).string('t1').finish()).on('data', resolve),
  );
  const reader = new BinaryReader(raw);
  const fields: unknown[] = [];
  while (reader.pos < reader.len) {
    const [field] = reader.tag();
    fields.push(field === 3 ? [field, reader.bytes()[1]] : [field, reader.string()]);
  }
  assert.deepEqual(fields, [
    [1, 't1'],
    [2, 'c1'],
    [3, 3],
  ]);
});

for (const operation of ['SendStreamingMessage', 'SubscribeToTask'] as const) {
  test(`gRPC: ${operation} is a stream of StreamResponses in their order, and ends with OK`, async (t) => {
    const frames = [
      { sequence: 1, body: { task: taskIn('TASK_STATE_SUBMITTED') } },
      textFrame(7, 'a\u2028b'),
      statusFrame(8, 'TASK_STATE_COMPLETED'),
    ];
    const served = await serveGrpc(t, {
      operations: scriptedOperations({
        sendStreamingMessage: async () => framesOf(...frames),
        subscribeToTask: async () => framesOf(...frames),
      }),
    });
    const params = operation === 'SubscribeToTask' ? { id: 't1' } : send();
    const { code, events } = await grpcClient(t, served.address).read(operation, params);
    assert.equal(code, 'OK');
    assert.deepEqual(
      events,
      frames.map(({ body }) => ('artifactUpdate' in body ? { artifactUpdate: body.artifactUpdate } : body)),
    );
    assert.deepEqual(served.counts.get('a2a_stream_ends_total'), [{ edge: 'test', reason: 'complete' }]);
  });
}

test('gRPC: a Message is the whole answer, and the whole stream', async (t) => {
  const message = { messageId: 'a', role: 'ROLE_AGENT', parts: [{ text: 'Yes.' }] } as const;
  const operations = scriptedOperations({
    sendMessage: async () => ({ message }),
    sendStreamingMessage: async () => framesOf({ message }, statusFrame(2, 'TASK_STATE_COMPLETED')),
  });
  const client = grpcClient(t, (await serveGrpc(t, { operations })).address);
  assert.deepEqual((await client.ask('SendMessage', send())).json, { message });
  assert.deepEqual((await client.read('SendStreamingMessage', send())).events, [{ message }]);
});

for (const code of ERROR_CODES) {
  test(`gRPC errors: ${code} has its status, reason, fields and when to come back [10.6-error-info]`, async (t) => {
    const error = new DomainError(code, 'outward text', {
      violations: [{ field: 'message.taskId', description: 'is not of this context' }],
      retryAfterMs: 1_500,
      cause: new Error('secret cause'),
    });
    const failing = { getTask: () => Promise.reject(error), subscribeToTask: () => Promise.reject(error) };
    const served = await serveGrpc(t, { operations: scriptedOperations(failing) });
    const client = grpcClient(t, served.address);
    const row = ERROR_TABLE[code];
    const internal = 'internal' in row;
    for (const reply of [
      await client.ask('GetTask', { id: 't1' }),
      await client.read('SubscribeToTask', { id: 't1' }),
    ]) {
      assert.deepEqual(assertEnded(reply, row.grpc, row.reason), internal ? [] : ['message.taskId']);
      assert.equal(reply.text, internal ? 'Internal error' : 'outward text');
      assert.equal(reply.retryMs, 'retry' in row ? 1_500 : undefined);
      assert.doesNotMatch(JSON.stringify(reply.trailers.toJSON()), /secret/);
    }
    assert.equal(served.counts.get('a2a_requests_total')?.[0]?.outcome, String(row.jsonRpc));
    assert.equal(served.counts.has('a2a_stream_ends_total'), false, 'a refusal is no stream');
  });
}

test('gRPC errors: what an operation throws goes into the log and not over the wire', async (t) => {
  const fault = new Error("SELECT * FROM task WHERE id = '/srv/secret'");
  const operations = scriptedOperations({ sendMessage: () => Promise.reject(fault) });
  const served = await serveGrpc(t, { operations });
  const reply = await grpcClient(t, served.address).ask('SendMessage', send());
  assertEnded(reply, 'INTERNAL', 'INTERNAL_ERROR');
  assert.equal(reply.text, 'Internal error');
  assert.deepEqual(served.events, [{ level: 'error', name: 'request.failed', error: fault }]);
});

test('gRPC errors: a fault in the middle of a stream ends it with a status behind what was sent', async (t) => {
  const operations = scriptedOperations({
    sendStreamingMessage: async () =>
      (async function* () {
        yield { sequence: 1, body: { task: taskIn('TASK_STATE_WORKING') } };
        throw new Error('secret at /srv/x');
      })(),
  });
  const served = await serveGrpc(t, { operations });
  const reply = await grpcClient(t, served.address).read('SendStreamingMessage', send());
  assertEnded(reply, 'INTERNAL', 'INTERNAL_ERROR');
  assert.equal(reply.events.length, 1);
  assert.deepEqual(served.counts.get('a2a_stream_ends_total'), [{ edge: 'test', reason: 'failed' }]);
});

test('gRPC errors: a flood of faults and a long text fit into the trailers that every client takes', async (t) => {
  const violations = Array.from({ length: 40 }, (_, index) => ({
    field: `message.${'x'.repeat(300)}${index}`,
    description: 'is wrong',
  }));
  const error = new DomainError('INVALID_PARAMS', 'y'.repeat(5_000), { violations });
  const served = await serveGrpc(t, { operations: scriptedOperations({ getTask: () => Promise.reject(error) }) });
  const reply = await grpcClient(t, served.address).ask('GetTask', { id: 't1' });
  assert.ok(assertEnded(reply, 'INVALID_ARGUMENT', 'INVALID_PARAMS').length > 5);
  const [details] = reply.trailers.get('grpc-status-details-bin');
  assert.ok(Buffer.byteLength(details ?? '', 'base64') > 0);
  assert.ok((details?.length ?? 0) * 1.34 + reply.text.length < 7_500);
});

for (const operation of ['Create', 'Get', 'List', 'Delete'] as const) {
  const name: Operation =
    operation === 'List' ? 'ListTaskPushNotificationConfigs' : `${operation}TaskPushNotificationConfig`;
  test(`gRPC: ${name} answers that push notifications are not supported while they are off`, async (t) => {
    const client = grpcClient(t, (await serveGrpc(t)).address);
    assertEnded(await client.ask(name, {}), 'FAILED_PRECONDITION', 'PUSH_NOTIFICATION_NOT_SUPPORTED');
  });
}

test('gRPC: streaming off is refused on both ways to a stream, an extended card nobody declares as well', async (t) => {
  const served = await serveGrpc(t, { edge: edgeOf({ streaming: false }) });
  const client = grpcClient(t, served.address);
  for (const reply of [
    await client.read('SendStreamingMessage', send()),
    await client.read('SubscribeToTask', { id: 't1' }),
    await client.ask('GetExtendedAgentCard', {}),
  ]) {
    assertEnded(reply, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION');
  }
  assert.deepEqual(served.operations.calls, []);
});

test('gRPC: GetExtendedAgentCard is the card of the caller’s tenant, whole', async (t) => {
  const card = {
    name: 'a',
    description: 'b',
    version: '1',
    supportedInterfaces: [{ url: 'x:1', protocolBinding: 'GRPC' }],
  };
  const served = await serveGrpc(t, { extendedCard: (tenant) => ({ ...card, description: tenant ?? '' }) });
  const { json } = await grpcClient(t, served.address).ask('GetExtendedAgentCard', {});
  assert.equal(json.description, 't1');
  assert.deepEqual(json.supportedInterfaces[0].url, 'x:1');
});

test('gRPC: it speaks 1.0, and whoever asks for something else or nothing is told so [10.2-extracted, 10.2-validated]', async (t) => {
  const served = await serveGrpc(t);
  const client = grpcClient(t, served.address);
  const ask = (version: string) => client.ask('GetTask', { id: 't1' }, { metadata: { 'a2a-version': version } });
  for (const version of ['1.0', '1.0.7']) assert.equal((await ask(version)).code, 'OK', version);
  for (const version of ['', '0.3', '1.1', '2.0', 'abc']) {
    const reply = await ask(version);
    assertEnded(reply, 'FAILED_PRECONDITION', 'VERSION_NOT_SUPPORTED');
    assert.match(reply.text, /Supported A2A versions: 1\.0(\.|$)/);
  }
  for (const operation of Object.keys(CALLS) as Operation[]) {
    const reply = await client.ask(operation, {}, { metadata: { 'a2a-version': '0.3' } });
    assertEnded(reply, 'FAILED_PRECONDITION', 'VERSION_NOT_SUPPORTED');
  }
});

test('gRPC: required extensions are read from the metadata, in one entry or in several [10.2-metadata, 10.2-commas]', async (t) => {
  const extensions = ['urn:a', 'urn:b'].map((uri) => ({ uri, description: 'd', required: true }));
  const offer = { inputModes: ['text/plain'], outputModes: ['text/plain'], skills: [], extensions };
  const client = grpcClient(t, (await serveGrpc(t, { edge: edgeOf({ offer }) })).address);
  const ask = (metadata: Record<string, string | readonly string[]>) => client.ask('SendMessage', send(), { metadata });
  for (const metadata of [{}, { 'a2a-extensions': 'urn:a' }]) {
    assertEnded(await ask(metadata), 'FAILED_PRECONDITION', 'EXTENSION_SUPPORT_REQUIRED');
  }
  for (const metadata of [{ 'a2a-extensions': 'urn:b, urn:a' }, { 'a2a-extensions': ['urn:a', 'urn:b'] }]) {
    assert.equal((await ask(metadata)).code, 'OK');
  }
  const png = { raw: 'AAAA', mediaType: 'image/png' };
  const activated = { metadata: { 'a2a-extensions': 'urn:a,urn:b' } };
  const reply = await client.ask('SendMessage', send({ parts: [png] }), activated);
  assertEnded(reply, 'INVALID_ARGUMENT', 'CONTENT_TYPE_NOT_SUPPORTED');
});
