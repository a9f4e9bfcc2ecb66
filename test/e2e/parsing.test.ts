import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import type { JiraClient } from '../../simulator/client/jira-client.ts';
import { plainPost } from './plain-calls.ts';
import { script, startWorld, type World } from './world.ts';

let world: World;
let alice: JiraClient;
before(async () => {
  world = await startWorld({ agent: 'rerun', settings: { MAX_BODY_BYTES: '2000000', LOG_LEVEL: 'debug' } });
  alice = await world.a2a('alice');
});
after(() => world.close());

const totalSize = async () => ((await alice.rpc('ListTasks', {})).result as { totalSize: number }).totalSize;
/** Texts of a database, a file system or a stack have no place in an answer. */
const INNER = /sqlite|select |insert |constraint|\/dist\/|node_modules|at \w+ \(/i;

const BROKEN: readonly (readonly [string, string, number])[] = [
  ['broken JSON', '{"jsonrpc":"2.0","id":7,', -32700],
  ['no body', '', -32700],
  ['an empty batch', '[]', -32600],
  ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}]', -32600],
  ['an object as id', '{"jsonrpc":"2.0","id":{},"method":"GetTask","params":{"id":"x"}}', -32600],
  ['a list as id', '{"jsonrpc":"2.0","id":[1],"method":"GetTask","params":{"id":"x"}}', -32600],
  ['a notification', '{"jsonrpc":"2.0","method":"GetTask","params":{"id":"x"}}', -32600],
];
for (const [name, body, code] of BROKEN) {
  test(`envelope: ${name} answers ${code} with id null on both edges`, async () => {
    for (const client of [alice, world.jira()]) {
      const answer = await client.rpc('GetTask', {}, { body, id: null });
      assert.deepEqual([answer.status, answer.error?.code, answer.faults], [200, code, []]);
      assert.match(String(answer.headers['content-type']), /^application\/json/);
    }
  });
}

const ODD: readonly (readonly [string, object, number])[] = [
  ['an empty method', { jsonrpc: '2.0', id: 1, method: '', params: {} }, -32600],
  ['a number as method', { jsonrpc: '2.0', id: 1, method: 5, params: {} }, -32600],
  ['JSON-RPC 1.0', { jsonrpc: '1.0', id: 1, method: 'GetTask', params: {} }, -32600],
  ['no version of JSON-RPC', { id: 1, method: 'GetTask', params: {} }, -32600],
  ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'Foo', params: {} }, -32601],
];
for (const [name, body, code] of ODD) {
  test(`envelope: ${name} answers ${code} with the id`, async () => {
    const answer = await alice.rpc('GetTask', {}, { body: JSON.stringify(body), id: 1 });
    assert.deepEqual([answer.status, answer.error?.code, answer.faults], [200, code, []]);
  });
}

type Message = ReturnType<typeof script>['message'];
const FAULTY: readonly (readonly [string, string, (message: Message) => unknown])[] = [
  ['no messageId', 'message.messageId', ({ messageId: _, ...rest }) => rest],
  ['an empty messageId', 'message.messageId', (message) => ({ ...message, messageId: '' })],
  ['a blank messageId', 'message.messageId', (message) => ({ ...message, messageId: '  ' })],
  ['a messageId of 1 MB', 'message.messageId', (message) => ({ ...message, messageId: 'x'.repeat(1_000_000) })],
  ['a contextId of 10 kB', 'message.contextId', (message) => ({ ...message, contextId: 'x'.repeat(10_000) })],
  ['no role', 'message.role', ({ role: _, ...rest }) => rest],
  ['the role of 0.3', 'message.role', (message) => ({ ...message, role: 'user' })],
  ['the role of the agent', 'message.role', (message) => ({ ...message, role: 'ROLE_AGENT' })],
  ['no role in particular', 'message.role', (message) => ({ ...message, role: 'ROLE_UNSPECIFIED' })],
  ['no parts', 'message.parts', (message) => ({ ...message, parts: [] })],
  ['a part of nothing', 'message.parts[0]', (message) => ({ ...message, parts: [{}] })],
  ['a NUL in the text', 'message.parts[0].text', (message) => ({ ...message, parts: [{ text: 'a\0b' }] })],
  ['no message', 'message', () => undefined],
];
for (const [name, field, change] of FAULTY) {
  test(`SendMessage: ${name} answers -32602 naming the field, runs nothing and leaves no trace [5.7-missing, 3.4.1-refused]`, async () => {
    const before = await totalSize();
    const place = world.outside.place();
    const params = script([`call ${place.name}`, 'complete']);
    const answer = await alice.rpc('SendMessage', { ...params, message: change(params.message) });
    assert.equal(answer.error?.code, -32602);
    assert.ok(JSON.stringify(answer.error?.data).includes(`"field":"${field}"`), answer.text.slice(0, 500));
    assert.doesNotMatch(answer.text, INNER);
    assert.ok(answer.text.length < 2_000, 'no echo of what was sent');
    assert.equal(await totalSize(), before);
    const honest = await alice.rpc('SendMessage', params);
    assert.equal(honest.task?.status.state, 'TASK_STATE_COMPLETED', 'the id was not used up');
    assert.equal(place.calls.length, 1);
  });
}

test('SendMessage: without params answers -32602', async () => {
  const { error } = await alice.rpc('SendMessage', undefined);
  assert.equal(error?.code, -32602);
  assert.ok(JSON.stringify(error.data).includes('"field":"params"'), 'it is named');
});

test('SendMessage: a messageId of any form is a messageId [14.1.1-injection]', async () => {
  for (const messageId of ['msg-1', "'; drop table task; --", '0', 'é🏮', `${'x'.repeat(255)}y`]) {
    const answer = await alice.rpc('SendMessage', script(['complete'], { messageId }));
    assert.equal(answer.task?.status.state, 'TASK_STATE_COMPLETED', messageId);
  }
});

test('SendMessage: a data part whose value is null is there in GetTask', async () => {
  const params = script(['complete']);
  const parts = [...params.message.parts, { data: null, mediaType: 'application/json' }];
  const sent = await alice.rpc('SendMessage', { message: { ...params.message, parts } });
  const got = await alice.get(String(sent.task?.id));
  assert.deepEqual(got.task?.history?.[0]?.parts, parts);
});

test('SendMessage: the service goes to no URL of a message [14.1.1-files]', async () => {
  const place = world.outside.place();
  const params = script(['complete']);
  const parts = [
    ...params.message.parts,
    { url: `${world.outside.url}/${place.name}`, mediaType: 'text/plain' },
    { url: 'file:///etc/passwd' },
  ];
  const sent = await alice.rpc('SendMessage', { message: { ...params.message, parts } });
  assert.equal(sent.task?.status.state, 'TASK_STATE_COMPLETED');
  assert.deepEqual((await alice.get(String(sent.task?.id))).task?.history?.[0]?.parts, parts);
  const own = await alice.rpc('SendMessage', script([`call ${place.name}`, 'complete']));
  assert.equal(own.task?.status.state, 'TASK_STATE_COMPLETED');
  assert.equal(place.calls.length, 1, 'only the agent’s own call came');
});

test('GetTask: an id of 1 MB is refused quickly, is not echoed and not in the log', async () => {
  const huge = `huge-${'x'.repeat(1_000_000)}`;
  const answer = await alice.get(huge);
  assert.ok([-32602, -32001].includes(answer.error?.code ?? 0));
  assert.ok(answer.text.length < 2_000);
  assert.ok(answer.elapsedMs < 1_000, `${answer.elapsedMs} ms`);
  assert.doesNotMatch(world.service().output(), /huge-x{100}/);
});

test('body: 150 kB of text are taken, one byte over the limit is a JSON error', async () => {
  const lines = ['complete', `# ${'x'.repeat(150_000)}`];
  assert.equal((await alice.rpc('SendMessage', script(lines))).task?.status.state, 'TASK_STATE_COMPLETED');
  const envelope = (text: string) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: script(['complete', `# ${text}`]) });
  const padding = 2_000_000 - Buffer.byteLength(envelope(''));
  const fits = await alice.rpc('SendMessage', {}, { id: 1, body: envelope('x'.repeat(padding)) });
  assert.equal(fits.task?.status.state, 'TASK_STATE_COMPLETED');
  const over = await alice.rpc('SendMessage', {}, { id: null, body: envelope('x'.repeat(padding + 1)) });
  assert.ok([200, 413].includes(over.status), String(over.status));
  assert.equal(JSON.parse(over.text).error.code, -32600);
});

test('body: a declared gigabyte is refused before a byte of it, and the socket is closed', async () => {
  const { port } = new URL(world.service().origin);
  const token = await world.issuer.token('alice');
  const text = await new Promise<string>((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(
        `POST /a2a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\nAuthorization: Bearer ${token}\r\nContent-Length: 1073741824\r\n\r\n`,
      );
    });
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => (answer += chunk)).on('end', () => resolve(answer));
    socket.on('error', reject);
  });
  assert.match(text, /^HTTP\/1\.1 413 [\s\S]*\r\nConnection: close\r\n[\s\S]*"code":-32600/);
});

test('answers: SendMessage, stream frames and Task hold fields of the protocol only [5.5-camel-case, 5.5-enums, 5.7-present, A.2-current, A.2.1-no-kind]', async () => {
  const params = script(['artifact brief plain 100', 'complete Done.']);
  const stream = await alice.streamRpc('SendStreamingMessage', params);
  assert.deepEqual(stream.faults, []);
  assert.equal(stream.task?.status.state, 'TASK_STATE_COMPLETED');
  const got = await alice.get(String(stream.task?.id));
  assert.deepEqual(got.faults, []);
});

test('no token: 401 with a challenge and a JSON body, no task and no look at the keys [3.3.2-challenge, 3.3.2-scheme, 7.4-challenge]', async () => {
  const before = [await totalSize(), world.issuer.jwks.requests()];
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: script(['complete']) });
  const answer = await plainPost(`${world.service().origin}/a2a`, body, { 'a2a-version': '1.0' });
  assert.equal(answer.status, 401);
  assert.equal(answer.headers['www-authenticate'], 'Bearer realm="a2a"');
  assert.equal(answer.json?.error?.code, -32600);
  assert.deepEqual([await totalSize(), world.issuer.jwks.requests()], before);
});

test('params.tenant: absent, empty and one’s own are served, another one is refused', async () => {
  const { id } = (await alice.rpc('SendMessage', script(['complete']))).task ?? { id: '' };
  for (const tenant of [undefined, '', 't1']) {
    assert.equal((await alice.rpc('GetTask', { tenant, id })).task?.id, id, String(tenant));
  }
  for (const tenant of ['t2', ' ', randomUUID()]) {
    const place = world.outside.place();
    const refused = await alice.rpc('SendMessage', { tenant, ...script([`call ${place.name}`, 'complete']) });
    assert.equal(refused.error?.code, -32602);
    assert.equal(place.calls.length, 0);
  }
  const foreign = await world.a2a('alice', { tenant: 't2' });
  assert.equal((await foreign.rpc('GetTask', { tenant: '', id })).error?.code, -32001, 'empty is nobody else’s');
});
