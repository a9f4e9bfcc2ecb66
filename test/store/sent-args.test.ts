import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACCEPT_ARGS, type SentArgs, UPDATE_ARGS } from '../../adapters/sqlite/sent-args.ts';
import type { SendCommand } from '../../core/decide/send.ts';
import type { EndCommand } from '../../core/decide/turn.ts';
import type { AcceptRequest, UpdateRequest } from '../../core/ports/task-store.ts';

const parts = [{ text: 'hello' }, { data: { deep: [null, { a: 1 }] } }];

/* With a value for each key that there is: a new one has to come through, too. */

const accept: Required<AcceptRequest> = {
  owner: { tenant: 'acme', principal: 'ada', agent: 'echo' },
  key: { contextId: '', messageId: 'm-1', fingerprint: 'of the key' },
  taskId: 'task-1',
  contextId: 'context-1',
  credential: { hash: 'h', expiresAt: 5, sealed: 'secret' },
  pushConfig: { id: 'p', url: 'https://example.com/hook', token: 't', authentication: { scheme: 'Bearer' } },
  lease: { worker: 'worker-1', leaseMs: 30_000 },
};
const send: Required<SendCommand> = {
  message: { messageId: 'm-1', role: 'ROLE_USER', parts, metadata: { a: null } },
  fingerprint: 'of the message',
  policy: 'parallel',
  answer: 'message',
  deadlineMs: 60_000,
  newTaskId: 'task-2',
  newContextId: 'context-2',
  delegate: 'app',
  trace: '00-1-2-01',
  queueMax: { tenant: 1, everybody: 2 },
};
const update: Required<Omit<UpdateRequest, 'owner' | 'artifactIds'>> = {
  taskId: 'task-1',
  fence: { taskId: 'task-1', ordinal: 2, worker: 'worker-1', attempt: 3 },
  pendingAfter: 2,
  lostArtifacts: true,
};
const end: Required<EndCommand> = {
  state: 'TASK_STATE_COMPLETED',
  saying: { messageId: 'm-2', parts },
  unsaid: { messageId: 'm-3', parts },
  metadata: { done: true },
  reply: true,
  taken: [4],
  left: [5, 6],
  parkedMaxMs: 7,
};
const writer = { ordinal: 2, attempt: 3 };

function roundTrip({ send: encode, receive }: SentArgs, args: readonly unknown[]): readonly unknown[] {
  return receive(JSON.parse(JSON.stringify(encode(args))) as readonly unknown[]);
}

/** All of it, and all but one of what may be absent, each in turn. */
function variantsOf<T extends object>(every: T, needed: readonly (keyof T)[]): readonly T[] {
  const optional = (Object.keys(every) as (keyof T)[]).filter((key) => !needed.includes(key));
  const without = (keys: readonly (keyof T)[]): T => {
    const left = { ...every };
    for (const key of keys) delete left[key];
    return left;
  };
  return [every, without(optional), ...optional.map((key) => without([key]))];
}

test('sent arguments: an acceptance comes back as it was, whatever it holds', () => {
  const commands = variantsOf(send, [
    ...(['message', 'fingerprint', 'policy', 'answer', 'deadlineMs', 'newTaskId', 'newContextId'] as const),
  ]);
  for (const data of commands) {
    for (const request of variantsOf(accept, ['owner'])) {
      const args = [request, { rule: { name: 'send', data } }];
      assert.deepEqual(roundTrip(ACCEPT_ARGS, args), args);
    }
  }
});

test('sent arguments: the end of a turn comes back as it was, whatever it holds', () => {
  for (const command of variantsOf(end, ['state', 'reply', 'taken', 'left', 'parkedMaxMs'])) {
    for (const request of variantsOf(update, ['taskId', 'fence'])) {
      const args = [request, { rule: { name: 'end', data: { writer, command } } }];
      assert.deepEqual(roundTrip(UPDATE_ARGS, args), args);
    }
  }
});

test('sent arguments: what every message brings goes without names', () => {
  const sent = [
    ACCEPT_ARGS.send([accept, { rule: { name: 'send', data: send } }]),
    UPDATE_ARGS.send([update, { rule: { name: 'end', data: { writer, command: end } } }]),
  ];
  const text = JSON.stringify(sent);
  for (const key of ['owner', 'key', 'lease', 'newTaskId', 'queueMax', 'fence', 'writer', 'taken', 'rule']) {
    assert.ok(!text.includes(`"${key}"`), `${key}: ${text}`);
  }
});

test('sent arguments: other rules and other updates go as they are', () => {
  const look = [{ taskId: 'task-1' }, { rule: { name: 'cancel', data: undefined } }];
  assert.equal(ACCEPT_ARGS.send(look), look);
  assert.equal(UPDATE_ARGS.send(look), look);
  const rule = { name: 'end', data: { writer, command: end } };
  const others: readonly UpdateRequest[] = [
    { ...update, owner: accept.owner },
    { ...update, artifactIds: ['a'] },
    { ...update, fence: { ...update.fence, taskId: 'another' } },
    { taskId: 'task-1' },
  ];
  for (const request of others) {
    const args = [request, { rule }];
    assert.deepEqual(roundTrip(UPDATE_ARGS, args), args);
  }
});
