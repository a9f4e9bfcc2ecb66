import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readEnvelope } from '../../simulator/client/envelope.ts';
import { checkProtoJson } from '../../simulator/client/proto-json.ts';

const task = {
  id: 't1',
  contextId: 'c1',
  status: {
    state: 'TASK_STATE_WORKING',
    timestamp: '2026-11-30T10:00:00.123Z',
    message: { messageId: 'm1', role: 'ROLE_AGENT', parts: [{ text: 'Reading' }] },
  },
  artifacts: [{ artifactId: 'a', parts: [{ data: null }, { text: '' }, { raw: 'AAE=', mediaType: 'image/png' }] }],
  metadata: { any: ['thing', { at: 'all' }] },
};
const inStatus = (changed: object) => ({ ...task, status: { ...task.status, ...changed } });

describe('strict ProtoJSON', () => {
  it('takes a task of all the fields', () => {
    assert.deepEqual(checkProtoJson('Task', task), []);
    assert.deepEqual(checkProtoJson('StreamResponse', { task }), []);
  });

  const refused: readonly (readonly [string, object, RegExp])[] = [
    ['kind', { ...task, kind: 'task' }, /Task\.kind: unknown field/],
    ['a proto name', { ...task, context_id: 'c1' }, /context_id: unknown field/],
    ['a lower-case state', inStatus({ state: 'working' }), /"working" is no TaskState/],
    ['an unspecified state', inStatus({ state: 'TASK_STATE_UNSPECIFIED' }), /is no TaskState/],
    ['a state by number', inStatus({ state: 2 }), /2 is no TaskState/],
    ['a status text outside of the message', inStatus({ text: 'x' }), /status\.text: unknown field/],
    ['a timestamp in words', inStatus({ timestamp: 'today' }), /where a timestamp belongs/],
    ['no status', { id: 't1' }, /Task\.status: required, absent/],
    ['an empty id', { ...task, id: '' }, /Task\.id: required, empty/],
    ['null for absent', { ...task, artifacts: null }, /null where an array belongs/],
    ['an artifact without parts', { ...task, artifacts: [{ artifactId: 'a', parts: [] }] }, /parts: required, empty/],
    [
      'a number as text',
      { ...task, artifacts: [{ artifactId: 'a', parts: [{ text: 5 }] }] },
      /a number where a string/,
    ],
    [
      'a part of two arms',
      { ...task, artifacts: [{ artifactId: 'a', parts: [{ text: 'x', url: 'y' }] }] },
      /text and url/,
    ],
    [
      'a part of no arm',
      { ...task, artifacts: [{ artifactId: 'a', parts: [{ mediaType: 'x' }] }] },
      /no arm of content/,
    ],
    ['an array as metadata', { ...task, metadata: [] }, /an array where a struct belongs/],
    [
      'an inherited name',
      JSON.parse(`{"id":"t","status":{"state":"TASK_STATE_WORKING"},"constructor":1}`),
      /constructor: unknown/,
    ],
  ];
  for (const [name, json, expected] of refused) {
    it(`refuses ${name}`, () => {
      const problems = checkProtoJson('Task', json);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', expected);
    });
  }

  it('refuses final and two arms in a stream event', () => {
    const statusUpdate = { taskId: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED' }, final: true };
    assert.match(checkProtoJson('StreamResponse', { statusUpdate }).join(), /statusUpdate\.final: unknown field/);
    assert.match(
      checkProtoJson('StreamResponse', { task, message: task.status.message }).join(),
      /task and message of payload/,
    );
    assert.match(checkProtoJson('StreamResponse', {}).join(), /no arm of payload/);
  });
});

describe('JSON-RPC envelope', () => {
  const read = (json: unknown, id: unknown = 1) =>
    readEnvelope(JSON.stringify(json), { id, result: 'Task' }).faults.join('; ');

  it('takes one result or one error under the id that was sent', () => {
    assert.equal(read({ jsonrpc: '2.0', id: 1, result: task }), '');
    assert.equal(read({ jsonrpc: '2.0', id: 0, error: { code: -32001, message: 'no' } }, 0), '');
  });

  it('refuses another id, also one of another type', () => {
    assert.match(read({ jsonrpc: '2.0', id: '1', result: task }), /envelope\.id: "1", sent was 1/);
    assert.match(read({ jsonrpc: '2.0', result: task }), /envelope\.id/);
  });

  it('refuses more keys, both or neither of result and error, and what is no JSON', () => {
    assert.match(read({ jsonrpc: '2.0', id: 1, result: task, final: true }), /final: unknown field/);
    assert.match(read({ jsonrpc: '2.0', id: 1 }), /either result or error/);
    assert.match(read({ jsonrpc: '2.0', id: 1, error: 'no' }), /an integer code/);
    assert.match(readEnvelope('<html>', { id: 1 }).faults.join(), /no JSON object/);
  });
});
