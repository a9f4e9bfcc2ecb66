import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { assertEnded, CALLS, grpcClient, type Operation } from './grpc.ts';
import { openGrpc } from './raw-grpc.ts';
import { send } from './rpc.ts';
import { serveGrpc } from './serve-grpc.ts';

/* Protobuf cannot say everything that JSON can, but what it can say wrongly is refused as it is over JSON-RPC. */

/** A message field with these bytes in it. */
function field(number: number, bytes: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(number, 2).bytes(bytes).finish();
}

function joined(...pieces: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(pieces);
}

const text = (number: number, value: string) => new BinaryWriter().tag(number, 2).string(value).finish();
const varint = (number: number, value: number) => new BinaryWriter().tag(number, 0).int32(value).finish();
const PART = field(5, text(1, 'hi'));

/** SendMessageRequest of a message with these fields behind its id and role. */
function sending(...fields: readonly Uint8Array[]): Uint8Array {
  return field(2, joined(text(1, 'm1'), varint(4, 1), ...fields));
}

function nested(levels: number): Uint8Array {
  let value: Uint8Array = new BinaryWriter().tag(4, 0).bool(true).finish();
  for (let level = 0; level < levels; level += 1) value = field(6, field(1, value));
  return value;
}

const NAN = new BinaryWriter().tag(2, 1).double(Number.NaN).finish();
const REFUSED: readonly (readonly [string, Operation, unknown, readonly string[]])[] = [
  ['nothing', 'SendMessage', new Uint8Array(), ['message']],
  ['an empty message', 'SendMessage', { message: {} }, ['message.messageId', 'message.role', 'message.parts']],
  ['messageId absent', 'SendMessage', send({ messageId: undefined }), ['message.messageId']],
  ['messageId blank', 'SendMessage', send({ messageId: '  ' }), ['message.messageId']],
  ['role unspecified', 'SendMessage', send({ role: 'ROLE_UNSPECIFIED' }), ['message.role']],
  ['role of the agent', 'SendMessage', send({ role: 'ROLE_AGENT' }), ['message.role']],
  ['an unknown role', 'SendMessage', field(2, joined(text(1, 'm1'), varint(4, 7), PART)), ['message.role']],
  ['no parts', 'SendMessage', send({ parts: [] }), ['message.parts']],
  ['a part without content', 'SendMessage', sending(PART, field(5, text(7, 'text/plain'))), ['message.parts[1]']],
  ['a value without a kind', 'SendMessage', sending(field(5, field(4, new Uint8Array()))), ['message.parts[0]']],
  ['a url that is empty', 'SendMessage', sending(field(5, text(3, ''))), ['message.parts[0].url']],
  ['text with NUL', 'SendMessage', send({ parts: [{ text: 'a\0' }] }), ['message.parts[0].text']],
  ['a number that is none', 'SendMessage', sending(field(5, field(4, NAN))), ['message.parts[0].data']],
  ['metadata too large', 'SendMessage', send({ metadata: { a: 'x'.repeat(16_384) } }), ['message.metadata']],
  ['a key with NUL', 'SendMessage', send({ metadata: { a: { 'b\0': 1 } } }), ['message.metadata.a']],
  ['contextId over 256 bytes', 'SendMessage', send({ contextId: 'ü'.repeat(129) }), ['message.contextId']],
  ['taskId with a line break', 'SendMessage', send({ taskId: 'a\nb' }), ['message.taskId']],
  [
    'historyLength negative',
    'SendMessage',
    send({}, { configuration: { historyLength: -1 } }),
    ['configuration.historyLength'],
  ],
  ['historyLength negative', 'GetTask', { id: 't1', historyLength: -1 }, ['historyLength']],
  ['no id', 'GetTask', {}, ['id']],
  ['no id', 'CancelTask', {}, ['id']],
  ['no id', 'SubscribeToTask', {}, ['id']],
  ['id of 1 MB', 'GetTask', { id: 'x'.repeat(1_000_000) }, ['id']],
  ['pageSize -1', 'ListTasks', { pageSize: -1 }, ['pageSize']],
  ['pageSize 101', 'ListTasks', { pageSize: 101 }, ['pageSize']],
  ['an unknown state', 'ListTasks', varint(3, 99), ['status']],
  ['another tenant', 'SendMessage', send({}, { tenant: 't2' }), ['tenant']],
  ['another tenant', 'GetTask', { id: 't1', tenant: 't2' }, ['tenant']],
  ['another tenant', 'GetExtendedAgentCard', { tenant: 't2' }, ['tenant']],
];
for (const [name, operation, params, fields] of REFUSED) {
  test(`gRPC: ${operation} with ${name} answers INVALID_ARGUMENT naming the field, and nothing is done`, async (t) => {
    const served = await serveGrpc(t);
    const reply = await grpcClient(t, served.address).ask(operation, params);
    assert.deepEqual(assertEnded(reply, 'INVALID_ARGUMENT', 'INVALID_PARAMS'), fields);
    assert.deepEqual(served.operations.calls, []);
  });
}

const BROKEN_TEXT = Buffer.from([0x0a, 2, 0xc3, 0x28]);
const UNREADABLE: readonly (readonly [string, Uint8Array, string])[] = [
  ['bytes that are no protobuf', Buffer.from('{"message":'), 'PARSE_ERROR'],
  ['a message that is cut off', sending(PART).subarray(0, 9), 'PARSE_ERROR'],
  ['text that is no UTF-8', sending(field(5, BROKEN_TEXT)), 'PARSE_ERROR'],
  ['an id that is no UTF-8', field(2, BROKEN_TEXT), 'PARSE_ERROR'],
  ['values too deep to store', sending(field(5, field(4, nested(150)))), 'PARSE_ERROR'],
  ['values too deep to read', sending(field(5, field(4, nested(4_000)))), 'PARSE_ERROR'],
  ['a flood of values', sending(Buffer.alloc(200_002, field(5, new Uint8Array()))), 'INVALID_REQUEST'],
];
for (const [name, bytes, reason] of UNREADABLE) {
  test(`gRPC: ${name} answers INVALID_ARGUMENT in a fixed text, and nothing is done`, async (t) => {
    const served = await serveGrpc(t);
    const reply = await grpcClient(t, served.address).ask('SendMessage', bytes);
    assertEnded(reply, 'INVALID_ARGUMENT', reason);
    assert.match(reply.text, /^The (message is not the one that this method takes|document )/);
    assert.deepEqual([served.operations.calls, served.events], [[], []]);
  });
}

test('gRPC: a date that no calendar has is refused', async (t) => {
  const served = await serveGrpc(t);
  const seconds = new BinaryWriter().tag(1, 0).int64(8_640_000_000_001).finish();
  const reply = await grpcClient(t, served.address).ask('ListTasks', field(7, seconds));
  assertEnded(reply, 'INVALID_ARGUMENT', 'PARSE_ERROR');
});

test('gRPC: a message over the limit is refused before it is read, one below it is not', async (t) => {
  const served = await serveGrpc(t, { socket: { maxBodyBytes: 100_000 } });
  const client = grpcClient(t, served.address);
  const large = await client.ask('SendMessage', send({ parts: [{ text: 'x'.repeat(100_000) }] }));
  assert.equal(large.code, 'RESOURCE_EXHAUSTED');
  assert.deepEqual(served.operations.calls, []);
  assert.equal((await client.ask('SendMessage', send({ parts: [{ text: 'x'.repeat(99_000) }] }))).code, 'OK');
  const [refused] = served.counts.get('a2a_requests_total') ?? [];
  assert.deepEqual(refused, { edge: 'test', method: 'SendMessage', outcome: 'unreadable' });
});

test('gRPC: a compressed message is read, and one that is larger than it looks is refused', async (t) => {
  const served = await serveGrpc(t, { socket: { maxBodyBytes: 100_000 } });
  const ask = async (size: number) => {
    const message = gzipSync(CALLS.SendMessage.encode(send({ parts: [{ text: 'x'.repeat(size) }] })));
    const call = await openGrpc(t, served.port, 'SendMessage', { 'grpc-encoding': 'gzip' });
    call.send(message, { compressed: true });
    call.stream.end();
    return (await call.ended()).code;
  };
  assert.equal(await ask(50_000), 'OK');
  assert.equal(await ask(5_000_000), 'RESOURCE_EXHAUSTED');
  assert.equal(served.operations.calls.length, 1);
});

test('gRPC: an unknown method, a second message and no message at all are UNIMPLEMENTED', async (t) => {
  const served = await serveGrpc(t);
  const unknown = await openGrpc(t, served.port, 'Nope', {});
  unknown.stream.end();
  assert.equal((await unknown.ended()).code, 'UNIMPLEMENTED');
  const none = await openGrpc(t, served.port, 'GetTask', {});
  none.stream.end();
  assert.equal((await none.ended()).code, 'UNIMPLEMENTED');
  const two = await openGrpc(t, served.port, 'GetTask', {});
  for (let count = 0; count < 2; count += 1) two.send(CALLS.GetTask.encode({ id: 't1' }));
  two.stream.end();
  assert.equal((await two.ended()).code, 'UNIMPLEMENTED');
  assert.deepEqual(served.operations.calls, []);
});
