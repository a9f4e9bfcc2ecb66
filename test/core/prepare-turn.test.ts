import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claimed, TaskStore } from '../../core/ports/task-store.ts';
import { prepareTurn } from '../../core/runtime/prepare-turn.ts';
import { StopSignal } from '../../core/runtime/stopper.ts';
import type { TurnWriter } from '../../core/runtime/turn-writer.ts';

const claimed: Claimed = {
  fence: { taskId: 't', ordinal: 1, worker: 'w', attempt: 1 },
  record: {
    id: 't',
    owner: { tenant: 'a', principal: 'p', agent: 'g' },
    contextId: 'c',
    status: { state: 'TASK_STATE_WORKING', timestamp: '2026-01-01T00:00:00.000Z' },
    reply: false,
    sequence: 2,
    messages: 1,
    createdAt: 0,
    updatedAt: 0,
  },
  message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] },
  lost: false,
  pending: [],
};

async function prepared(stop: StopSignal<string>) {
  const turn = await prepareTurn({ store: {} as TaskStore, capabilities: async () => ({}) }, claimed, {
    writer: {} as TurnWriter,
    stop,
  });
  assert.ok(turn);
  return turn;
}

test('the signal of a turn is in copies of the turn and behind proxies, and it is the same one', async () => {
  const stop = new StopSignal<string>();
  const turn = await prepared(stop);
  assert.ok(Object.keys(turn).includes('signal'));
  const copy = { ...turn };
  const proxy = new Proxy(turn, {});
  assert.equal(turn.signal.aborted, false);
  assert.equal(copy.signal, turn.signal);
  assert.equal(proxy.signal, turn.signal);
  stop.abort('over');
  assert.equal(copy.signal.aborted, true);
});

test('turns have signals of their own', async () => {
  const first = new StopSignal<string>();
  const [one, other] = [await prepared(first), await prepared(new StopSignal<string>())];
  first.abort('over');
  assert.equal(one.signal.aborted, true);
  assert.equal(other.signal.aborted, false);
});

test('the signal of a turn may be replaced or taken away by whoever wraps an agent', async () => {
  const turn = await prepared(new StopSignal<string>());
  const signal = AbortSignal.any([turn.signal, AbortSignal.timeout(60_000)]);
  Object.defineProperty(turn, 'signal', { value: signal });
  assert.equal(turn.signal, signal);
  assert.ok(Reflect.deleteProperty(turn, 'signal'));
});

test('what an agent changes of its task changes no record', async () => {
  const { task } = await prepared(new StopSignal<string>());
  Object.assign(task.status, { state: 'TASK_STATE_FAILED' });
  assert.equal(claimed.record.status.state, 'TASK_STATE_WORKING');
});
