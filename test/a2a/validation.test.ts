import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Incoming } from '../../core/ports/edge.ts';
import { assertRefused, call, post, rpc, send } from './rpc.ts';
import { scriptedOperations, taskIn } from './scripted-operations.ts';
import { edgeOf, OWNER, type Served, serve } from './serve.ts';

function incoming(served: Served): Incoming {
  const args = served.operations.callsOf('sendMessage').at(-1);
  assert.ok(args, 'sendMessage was not called');
  return args[1] as Incoming;
}

const REFUSED: readonly (readonly [string, string, unknown, readonly string[]])[] = [
  ['params absent', 'SendMessage', undefined, ['params']],
  ['params an array', 'SendMessage', [], ['params']],
  ['params null', 'GetTask', null, ['params']],
  ['message absent', 'SendMessage', {}, ['message']],
  ['messageId absent', 'SendMessage', send({ messageId: undefined }), ['message.messageId']],
  ['messageId empty', 'SendMessage', send({ messageId: '' }), ['message.messageId']],
  ['messageId blank', 'SendMessage', send({ messageId: '  ' }), ['message.messageId']],
  ['messageId a number', 'SendMessage', send({ messageId: 5 }), ['message.messageId']],
  ['role absent', 'SendMessage', send({ role: undefined }), ['message.role']],
  ['role of 0.3', 'SendMessage', send({ role: 'user' }), ['message.role']],
  ['role of the agent', 'SendMessage', send({ role: 'ROLE_AGENT' }), ['message.role']],
  ['role unspecified', 'SendMessage', send({ role: 'ROLE_UNSPECIFIED' }), ['message.role']],
  ['role a number', 'SendMessage', send({ role: 1 }), ['message.role']],
  ['parts absent', 'SendMessage', send({ parts: undefined }), ['message.parts']],
  ['parts empty', 'SendMessage', send({ parts: [] }), ['message.parts']],
  ['parts an object', 'SendMessage', send({ parts: { text: 'hi' } }), ['message.parts']],
  ['a part without content', 'SendMessage', send({ parts: [{ text: 'hi' }, {}] }), ['message.parts[1]']],
  ['a part with two contents', 'SendMessage', send({ parts: [{ text: 'a', url: 'b' }] }), ['message.parts[0]']],
  ['text beside data null', 'SendMessage', send({ parts: [{ text: 'a', data: null }] }), ['message.parts[0]']],
  ['text a number', 'SendMessage', send({ parts: [{ text: 5 }] }), ['message.parts[0].text']],
  ['raw no base64', 'SendMessage', send({ parts: [{ raw: 'a b!' }] }), ['message.parts[0].raw']],
  ['a part of 0.3', 'SendMessage', send({ parts: [{ kind: 'text' }] }), ['message.parts[0]']],
  ['metadata a list', 'SendMessage', send({ metadata: [] }), ['message.metadata']],
  ['metadata too large', 'SendMessage', send({ metadata: { a: 'x'.repeat(16_384) } }), ['message.metadata']],
  ['contextId of 10 kB', 'SendMessage', send({ contextId: 'x'.repeat(10_000) }), ['message.contextId']],
  ['contextId over 256 bytes', 'SendMessage', send({ contextId: 'ü'.repeat(129) }), ['message.contextId']],
  ['taskId with a line break', 'SendMessage', send({ taskId: 'a\nb' }), ['message.taskId']],
  ['a key with NUL', 'SendMessage', send({ metadata: { a: { 'b\0': 1 } } }), ['message.metadata.a']],
  ['text with NUL', 'SendMessage', send({ parts: [{ text: 'a\0' }] }), ['message.parts[0].text']],
  [
    'a lone surrogate in data',
    'SendMessage',
    send({ parts: [{ data: { a: ['\ud800'] } }] }),
    ['message.parts[0].data.a[0]'],
  ],
  [
    'historyLength negative',
    'SendMessage',
    send({}, { configuration: { historyLength: -1 } }),
    ['configuration.historyLength'],
  ],
  ['historyLength a text', 'GetTask', { id: 't1', historyLength: 'abc' }, ['historyLength']],
  ['historyLength a fraction', 'GetTask', { id: 't1', historyLength: 1.5 }, ['historyLength']],
  ['historyLength a numeral', 'GetTask', { id: 't1', historyLength: '1' }, ['historyLength']],
  [
    'returnImmediately a text',
    'SendMessage',
    send({}, { configuration: { returnImmediately: 'no' } }),
    ['configuration.returnImmediately'],
  ],
  ['id absent', 'GetTask', {}, ['id']],
  ['id empty', 'CancelTask', { id: '' }, ['id']],
  ['id of 1 MB', 'GetTask', { id: 'x'.repeat(1_000_000) }, ['id']],
  ['id an object', 'SubscribeToTask', { id: {} }, ['id']],
  ['pageSize 0', 'ListTasks', { pageSize: 0 }, ['pageSize']],
  ['pageSize 101', 'ListTasks', { pageSize: 101 }, ['pageSize']],
  ['an unknown state', 'ListTasks', { status: 'working' }, ['status']],
  ['a date without a time', 'ListTasks', { statusTimestampAfter: '2026-11-30' }, ['statusTimestampAfter']],
  ['the 40th of a month', 'ListTasks', { statusTimestampAfter: '2026-11-40T00:00:00Z' }, ['statusTimestampAfter']],
  ['another tenant', 'SendMessage', send({}, { tenant: 't2' }), ['tenant']],
  ['a number as tenant', 'GetTask', { id: 't1', tenant: 1 }, ['tenant']],
];
for (const [name, method, params, fields] of REFUSED) {
  test(`${method}: ${name} answers -32602 naming the field, and nothing is done [3.3.2-validated, 3.3.2-which-parameter, 13.4-validated, 3.1.4-page-size, 5.6.1-read]`, async (t) => {
    const served = await serve(t);
    const answer = await call(served, method, params);
    assert.deepEqual(assertRefused(answer, -32602), fields, answer.text);
    assert.deepEqual(served.operations.calls, []);
    assert.ok(answer.text.length < 2_000);
  });
}

test('SendMessage: a number that no double holds answers -32602 naming the field', async (t) => {
  const served = await serve(t);
  const body = rpc('SendMessage', send({ parts: [{ data: { a: [0] } }] }));
  assert.deepEqual(assertRefused(await post(served, body.replace('[0]', '[-1e400]')), -32602), [
    'message.parts[0].data.a[0]',
  ]);
  assert.deepEqual(served.operations.calls, []);
  assert.ok((await post(served, body.replace('[0]', '[1e308]'))).json.result);
});

const GUIDED: readonly (readonly [string, unknown, RegExp])[] = [
  ['SendMessage', send({ role: 'user' }), /must be ROLE_USER/],
  ['SendMessage', send({ parts: [{}] }), /exactly one of text, raw, url, data/],
  ['SendMessage', send({ contextId: 'x'.repeat(300) }), /at most 256 bytes/],
  ['SendMessage', send({ messageId: 5 }), /expected string/],
  ['ListTasks', { pageSize: 101 }, /<=100/],
  ['ListTasks', { status: 'working' }, /"TASK_STATE_WORKING"/],
  ['ListTasks', { statusTimestampAfter: 'now' }, /ISO 8601 timestamp with an offset/],
  ['GetTask', { id: 't1', historyLength: -1 }, />=0/],
];
for (const [method, params, words] of GUIDED) {
  test(`${method}: a refusal says what would be right, such as ${words.source} [3.3.2-guidance]`, async (t) => {
    const { json } = await call(await serve(t), method, params);
    assert.match(json.error.data[1].fieldViolations[0].description, words);
  });
}

test('SendMessage: every fault is named, but a flood of them is not answered with a flood [3.3.2-well-known, 9.5-well-known]', async (t) => {
  const served = await serve(t);
  const both = await call(served, 'SendMessage', send({ role: 'user', messageId: '' }));
  assert.deepEqual([...assertRefused(both, -32602)].sort(), ['message.messageId', 'message.role']);
  const flood = await call(served, 'SendMessage', send({ parts: Array.from({ length: 900 }, () => ({})) }));
  assert.equal(assertRefused(flood, -32602).length, 32);
  const parts = await call(served, 'SendMessage', send({ parts: Array.from({ length: 90_000 }, () => ({})) }));
  assert.deepEqual(assertRefused(parts, -32602), ['message.parts']);
});

test('SendMessage: the message reaches the operation without defaults and unknown fields [5.7-unrecognized]', async (t) => {
  const served = await serve(t);
  const params = send(
    {
      contextId: '',
      taskId: '',
      kind: 'message',
      parts: [{ text: 'hi', mediaType: '', filename: '', kind: 'text' }],
      extensions: [],
      metadata: null,
      role: 'ROLE_USER',
    },
    { tenant: '', later: true, configuration: { acceptedOutputModes: ['text/plain'], historyLength: 0 } },
  );
  assert.ok((await call(served, 'SendMessage', params)).json.result);
  assert.deepEqual(served.operations.callsOf('sendMessage')[0]?.slice(0, 3), [
    edgeOf().profile,
    {
      caller: { owner: OWNER, binding: 'test', version: '1.0' },
      key: 'm1',
      deadlineMs: 86_400_000,
      message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] },
    },
    { returnImmediately: false, historyLength: 0 },
  ]);
});

test('SendMessage: proto names are read, and never written [5.5-camel-case]', async (t) => {
  const served = await serve(t);
  const answer = await call(served, 'SendMessage', {
    message: {
      message_id: 'm1',
      context_id: 'c1',
      task_id: 't1',
      role: 'ROLE_USER',
      parts: [{ data: { media_type: 'kept' }, media_type: 'application/json' }],
      reference_task_ids: ['t0'],
      metadata: { context_id: 'kept' },
    },
    configuration: { return_immediately: true, history_length: 2 },
  });
  assert.doesNotMatch(answer.text, /context_id/);
  assert.deepEqual(incoming(served).message, {
    messageId: 'm1',
    contextId: 'c1',
    taskId: 't1',
    role: 'ROLE_USER',
    parts: [{ data: { media_type: 'kept' }, mediaType: 'application/json' }],
    metadata: { context_id: 'kept' },
    referenceTaskIds: ['t0'],
  });
  assert.deepEqual(served.operations.callsOf('sendMessage')[0]?.[2], { returnImmediately: true, historyLength: 2 });
});

test('SendMessage: all four contents and the JSON value null survive in both directions [3.2.5-metadata]', async (t) => {
  const parts = [
    { text: '' },
    { raw: 'AAECAw==', filename: 'a.bin' },
    { url: 'https://example.test/x' },
    { data: null, mediaType: 'application/json' },
    { data: { deep: [null, 0, false, ''] } },
  ];
  const echo = scriptedOperations({
    sendMessage: async (_, { message }) => ({
      task: taskIn('TASK_STATE_COMPLETED', {
        history: [message],
        artifacts: [{ artifactId: 'a', parts: message.parts }],
      }),
    }),
  });
  const served = await serve(t, { operations: echo });
  const metadata = { text: '', nothing: null, deep: [0, 1.5, false, { a: {} }], 'urn:harbor:x': 'y' };
  const { result } = (await call(served, 'SendMessage', send({ parts, metadata }))).json;
  assert.deepEqual(incoming(served).message.parts, parts);
  assert.deepEqual(result.task.history[0].metadata, metadata);
  assert.deepEqual(result.task.history[0].parts, parts);
  assert.deepEqual(result.task.artifacts[0].parts, parts);
});

test('SendMessage: a message answer goes out as the message arm', async (t) => {
  const message = { messageId: 'r1', taskId: 't1', role: 'ROLE_AGENT', parts: [{ data: null }] } as const;
  const served = await serve(t, { operations: scriptedOperations({ sendMessage: async () => ({ message }) }) });
  assert.deepEqual((await call(served, 'SendMessage', send())).json.result, { message });
});

for (const tenant of ['', null, 't1', OWNER.tenant]) {
  test(`SendMessage: tenant ${JSON.stringify(tenant)} is the caller's own and goes no further`, async (t) => {
    const served = await serve(t);
    assert.ok((await call(served, 'SendMessage', send({}, { tenant }))).json.result);
    assert.equal(incoming(served).caller.owner.tenant, OWNER.tenant);
  });
}

test('SendMessage: an edge supplies its own key, none, and an account to act as', async (t) => {
  for (const [key, expected] of [
    ['k1', 'k1'],
    [null, undefined],
    [undefined, 'm1'],
  ] as const) {
    const prepare = ({ params }: { params: import('../../core/message.ts').JsonObject }) => {
      return { params, key, deadlineMs: 1, delegate: 'bot' };
    };
    const served = await serve(t, { edge: edgeOf({ session: { prepare } }) });
    await call(served, 'SendMessage', send());
    assert.equal(incoming(served).key, expected);
    assert.equal('key' in incoming(served), expected !== undefined);
    assert.equal(incoming(served).caller.delegate, 'bot');
  }
});

test('SendMessage: an escaped surrogate pair and U+FFFF are text like any other', async (t) => {
  const served = await serve(t);
  const body = rpc('SendMessage', send({ parts: [{ text: 'TEXT' }] })).replace('TEXT', '\\ud83d\\ude00\\uffff');
  assert.ok((await post(served, body)).json.result);
  assert.deepEqual(incoming(served).message.parts, [{ text: '\u{1f600}\uffff' }]);
});

test('ListTasks: params are optional, and the four fields of a result are always there [3.1.4-page-size]', async (t) => {
  const served = await serve(t);
  const expected = { tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 };
  for (const body of [rpc('ListTasks'), rpc('ListTasks', {}), rpc('ListTasks', { contextId: '', pageToken: '' })]) {
    assert.deepEqual((await post(served, body)).json.result, expected);
  }
  assert.deepEqual(
    served.operations.callsOf('listTasks').map(([, query]) => query),
    Array.from({ length: 3 }, () => ({ filter: {}, pageSize: 50, includeArtifacts: false })),
  );
});

test('ListTasks: filters arrive in the form of core [5.6.1-read]', async (t) => {
  const served = await serve(t);
  await call(served, 'ListTasks', {
    context_id: 'c1',
    status: 'TASK_STATE_WORKING',
    page_size: 2,
    pageToken: 'p',
    historyLength: 1,
    statusTimestampAfter: '2026-11-30T11:00:00.0001+02:00',
    includeArtifacts: true,
  });
  assert.deepEqual(served.operations.callsOf('listTasks')[0], [
    { owner: OWNER, binding: 'test', version: '1.0' },
    {
      filter: {
        contextId: 'c1',
        state: 'TASK_STATE_WORKING',
        statusSince: Date.parse('2026-11-30T09:00:00.001Z'),
      },
      pageSize: 2,
      pageToken: 'p',
      historyLength: 1,
      includeArtifacts: true,
    },
  ]);
});

test('ListTasks: artifacts are a key only when they are asked for [3.1.4-no-artifacts, 3.1.4-artifacts]', async (t) => {
  const tasks = [taskIn('TASK_STATE_COMPLETED')];
  const operations = scriptedOperations({
    listTasks: async () => ({ tasks, totalSize: 1, pageSize: 1, nextPageToken: '' }),
  });
  const served = await serve(t, { operations });
  const without = await call(served, 'ListTasks', {});
  assert.equal('artifacts' in without.json.result.tasks[0], false);
  const asked = await call(served, 'ListTasks', { includeArtifacts: true });
  assert.deepEqual(asked.json.result.tasks[0].artifacts, []);
});

test('a field that is missing is said to be required, unless its schema says what would be right', async (t) => {
  const served = await serve(t);
  for (const [method, params, field] of [
    ['SendMessage', {}, 'message'],
    ['SendMessage', send({ messageId: undefined }), 'message.messageId'],
    ['SendMessage', send({ parts: undefined }), 'message.parts'],
    ['GetTask', {}, 'id'],
  ] as const) {
    const { error } = (await call(served, method, params)).json;
    assert.deepEqual(error.data[1].fieldViolations, [{ field, description: 'is required' }], field);
  }
});
