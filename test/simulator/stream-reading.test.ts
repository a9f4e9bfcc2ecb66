import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { artifactText, type StreamResponse, type Task } from '../../simulator/client/a2a.ts';
import { createReassembly } from '../../simulator/client/reassembly.ts';
import { readSse, type SseItem } from '../../simulator/client/sse.ts';

async function read(...chunks: readonly string[]): Promise<readonly SseItem[]> {
  const items: SseItem[] = [];
  const body = Readable.from(chunks.map((chunk) => Buffer.from(chunk))) as unknown as IncomingMessage;
  for await (const item of readSse(body, () => {})) items.push(item);
  return items;
}
const faults = (items: readonly SseItem[]): string =>
  items.flatMap((item) => (item.kind === 'fault' ? [item.detail] : [])).join('; ');

describe('SSE reader', () => {
  it('reads events with their ids, and comments', async () => {
    assert.deepEqual(await read(': beat\n\nid: 7\ndata: {"a":1}\n\n'), [
      { kind: 'comment', text: 'beat' },
      { kind: 'event', data: '{"a":1}', id: '7' },
    ]);
  });

  it('joins lines, line ends and characters that arrive in pieces', async () => {
    const bytes = Buffer.from('data: "🏮"\r\n\r\n');
    const body = Readable.from([...bytes].map((byte) => Buffer.from([byte]))) as unknown as IncomingMessage;
    const items: SseItem[] = [];
    for await (const item of readSse(body, () => {})) items.push(item);
    assert.deepEqual(items, [{ kind: 'event', data: '"🏮"' }]);
  });

  it('drops a line over 65,535 characters and reports it', async () => {
    const fits = `data: ${'x'.repeat(65_535 - 6)}`;
    assert.equal(faults(await read(`${fits}\n\n`)), '');
    const items = await read(`${fits}x\n\ndata: "next"\n\n`);
    assert.match(faults(items), /a line of 65536 characters is dropped/);
    assert.deepEqual(items.at(-1), { kind: 'event', data: '"next"' });
  });

  it('reports an event of two data lines, raw separators and half an event at the end', async () => {
    assert.match(faults(await read('data: {\ndata: }\n\n')), /2 data lines/);
    for (const separator of ['\u2028', '\u2029', '\u0085']) {
      assert.match(faults(await read(`data: "a${separator}b"\n\n`)), /raw in a line/);
    }
    assert.match(faults(await read('data: {"a"')), /in the middle of an event/);
  });
});

const ids = { taskId: 't', contextId: 'c' };
const first: StreamResponse = { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } };
const chunk = (text: string, append: boolean): StreamResponse => ({
  artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts: [{ text }] }, append },
});
const completed: StreamResponse = { statusUpdate: { ...ids, status: { state: 'TASK_STATE_COMPLETED' } } };

function play(...frames: readonly StreamResponse[]): {
  readonly task: Task | undefined;
  readonly faults: readonly string[];
} {
  const reassembly = createReassembly();
  const found = frames.flatMap((frame) => reassembly.apply(frame));
  return { task: reassembly.task(), faults: found };
}

describe('reassembly', () => {
  it('appends, replaces and follows the state', () => {
    const { task, faults: none } = play(first, chunk('x', false), chunk('one', false), chunk(' two', true), completed);
    assert.deepEqual(none, []);
    assert.equal(artifactText(task), 'one two');
    assert.equal(task?.status.state, 'TASK_STATE_COMPLETED');
  });

  it('takes the artifacts of a finished task after its snapshot', () => {
    const finished: StreamResponse = { task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } } };
    const { task, faults: none } = play(finished, chunk('one', false), chunk(' two', true));
    assert.deepEqual([none, artifactText(task)], [[], 'one two']);
  });

  it('ignores an append for an artifact that it has not seen, and reports it', () => {
    const { task, faults: found } = play(first, chunk('two', true));
    assert.equal(artifactText(task), '');
    assert.match(found.join(), /has not shown/);
  });

  it('reports events in the wrong place', () => {
    assert.match(play(completed).faults.join(), /before the task event/);
    assert.match(play(first, first).faults.join(), /a second task event/);
    assert.match(play(first, completed, chunk('late', false)).faults.join(), /after the terminal one/);
    const foreign: StreamResponse = { statusUpdate: { ...ids, taskId: 'x', status: { state: 'TASK_STATE_WORKING' } } };
    assert.match(play(first, foreign).faults.join(), /task x in the stream of t/);
  });
});
