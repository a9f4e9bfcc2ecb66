import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Message as SdkMessage, Task as SdkTask, StreamResponse } from '@a2a-js/sdk';
import {
  toSdkEvent,
  toSdkMessage,
  toSdkTask,
  toWireEvent,
  toWireMessage,
  toWireTask,
} from '../../adapters/a2a/codec.ts';
import type { EventBody } from '../../core/event.ts';
import type { Message, Part } from '../../core/message.ts';
import type { Task } from '../../core/task.ts';

/* Most of what 1.0 answers goes out as core has it; this is the SDK's word that its translation would change nothing. */

const details = {
  filename: 'a.txt',
  mediaType: 'text/plain',
  metadata: { one: 1, nested: { list: [null, true, 'x'] } },
};
const PARTS: Readonly<Record<string, Part>> = {
  text: { text: 'a\u2028"b"', ...details },
  'empty text': { text: '' },
  url: { url: 'https://example.com/x?y=1', ...details },
  data: { data: { a: [1, 2.5, { b: null }] }, ...details },
  'no data': { data: null },
  'false data': { data: false },
  bytes: { raw: 'AAEC+/8=', ...details },
};
const message = (parts: readonly Part[]): Message => ({
  messageId: 'm1',
  contextId: 'c1',
  taskId: 't1',
  role: 'ROLE_AGENT',
  parts,
  metadata: { a: {} },
  extensions: ['https://example.com/e'],
  referenceTaskIds: ['t0'],
});
const artifact = (parts: readonly Part[]) => ({
  artifactId: 'a1',
  name: 'n',
  description: 'd',
  parts,
  metadata: { superseded: true },
  extensions: ['https://example.com/e'],
});
const timestamp = '2026-11-30T10:00:00.123Z';

function bodiesWith(part: Part): Readonly<Record<string, EventBody>> {
  const of = { taskId: 't1', contextId: 'c1' };
  const status = { state: 'TASK_STATE_COMPLETED', message: message([part]), timestamp } as const;
  return {
    'a status': { statusUpdate: { ...of, status, metadata: { k: 'v' } } },
    'a bare status': { statusUpdate: { ...of, status: { state: 'TASK_STATE_WORKING', timestamp } } },
    'a piece of an artifact': { artifactUpdate: { ...of, artifact: artifact([part]), append: true, lastChunk: true } },
    'an artifact': { artifactUpdate: { ...of, artifact: { artifactId: 'a1', parts: [part, part] } } },
    'a message': { message: message([part]) },
    'a task': { task: { id: 't1', contextId: 'c1', status, artifacts: [artifact([part])], metadata: { k: 'v' } } },
    'a bare task': { task: { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_SUBMITTED', timestamp } } },
  };
}

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

for (const [kind, part] of Object.entries(PARTS)) {
  for (const [name, body] of Object.entries(bodiesWith(part))) {
    test(`wire: ${name} with ${kind} is what the SDK would write`, () => {
      const translated = json(StreamResponse.toJSON(toSdkEvent(body)));
      assert.deepEqual(json(toWireEvent(body)), translated);
      assert.deepEqual(json(body), translated);
    });
  }
}

for (const [kind, part] of Object.entries(PARTS)) {
  test(`wire: a task and a message with ${kind} are answered as the SDK would`, () => {
    const bare: Task = { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_WORKING', timestamp } };
    const [artifacts, history] = [[artifact([part])], [message([part]), message([{ text: 'x' }])]];
    const tasks: readonly Task[] = [
      bare,
      { ...bare, artifacts: [], history: [] },
      { ...bare, artifacts, history: [], metadata: {} },
      { ...bare, artifacts: [], history, metadata: { k: 'v' } },
      { ...bare, artifacts, history, status: { ...bare.status, message: message([part]) } },
    ];
    for (const task of tasks) assert.deepEqual(json(toWireTask(task)), json(SdkTask.toJSON(toSdkTask(task))));
    const said = message([part]);
    assert.deepEqual(json(toWireMessage(said)), json(SdkMessage.toJSON(toSdkMessage(said))));
  });
}

test('wire: bytes of an agent that writes them in the alphabet of URLs go out in the standard one, wherever they are', () => {
  for (const [name, body] of Object.entries(bodiesWith({ raw: 'AAEC-_8' }))) {
    const text = JSON.stringify(toWireEvent(body));
    if (!name.includes('bare')) assert.match(text, /"raw":"AAEC\+\/8="/, name);
    assert.doesNotMatch(text, /-_8/, name);
  }
});
