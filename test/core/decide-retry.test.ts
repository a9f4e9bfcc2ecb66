import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chooseDead, decideRetry, type RetryCommand } from '../../core/decide/retry.ts';
import { decideEnd, decideProgress } from '../../core/decide/turn.ts';
import { OperatorRefusal, type RefusalCode } from '../../core/operator-refusal.ts';
import type { RetryView, TurnEntry } from '../../core/ports/operator-store.ts';
import type { Change } from '../../core/ports/task-store.ts';
import { executionOf, NOW, recordOf, viewOf } from '../support/task-view.ts';

const COMMAND: RetryCommand = { again: false, newTaskId: 'new', deadlineMs: 1_000 };

function turnOf(ordinal: number, outcome: TurnEntry['outcome'], more: Partial<TurnEntry> = {}): TurnEntry {
  return { ordinal, outcome, attempts: 1, openedAt: NOW, held: false, ...more };
}

function retryView(changes: Partial<RetryView> = {}): RetryView {
  const { metadata: _, ...record } = recordOf('TASK_STATE_FAILED', { messages: 3 });
  return {
    now: NOW,
    record,
    exclusive: false,
    tenant: 'active',
    turns: [turnOf(1, 'done'), turnOf(3, 'dead', { trace: '00-abc' })],
    messages: new Map([
      [3, { messageId: 'm3', role: 'ROLE_USER', parts: [{ text: 'do it' }], taskId: 'task', contextId: 'context' }],
    ]),
    ...changes,
  };
}

function refuses(run: () => unknown, code: RefusalCode, text: RegExp): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof OperatorRefusal);
    assert.equal(error.code, code);
    assert.match(error.message, text);
    return true;
  });
}

describe('chooseDead', () => {
  it('the one that is named, or the only one', () => {
    const turns = [turnOf(1, 'done'), turnOf(2, 'dead'), turnOf(3, 'dead')];
    assert.equal(chooseDead(turns, 3), 3);
    assert.equal(chooseDead(turns.slice(0, 2)), 2);
    refuses(() => chooseDead(turns), 'SEVERAL_DEAD_TURNS', /turns 2, 3 are dead/);
  });

  it('nothing else: the refusal says what the turns are', () => {
    refuses(() => chooseDead([turnOf(1, 'done')]), 'TURN_NOT_DEAD', /turn 1 is done/);
    refuses(() => chooseDead([turnOf(1, 'closed')], 1), 'TURN_NOT_DEAD', /turn 1 is closed/);
    refuses(() => chooseDead([turnOf(1, 'dead')], 2), 'UNKNOWN_TURN', /no turn 2/);
    refuses(() => chooseDead([]), 'TURN_NOT_DEAD', /no dead turn$/);
  });
});

describe('decideRetry', () => {
  it('a submitted task in the same context, with the message of the dead turn, its trace and a mark of the old task', () => {
    const decision = decideRetry(retryView(), COMMAND);
    const status = { state: 'TASK_STATE_SUBMITTED', timestamp: new Date(NOW).toISOString() };
    const metadata = { retryOf: 'task' };
    assert.deepEqual(decision, {
      ordinal: 3,
      exclusive: false,
      task: { id: 'new', contextId: 'context' },
      change: {
        ...{ status, metadata, deadlineAt: NOW + 1_000 },
        messages: [
          { messageId: 'm3', role: 'ROLE_USER', parts: [{ text: 'do it' }], taskId: 'new', contextId: 'context' },
        ],
        events: [{ task: { id: 'new', contextId: 'context', status, metadata } }],
        executions: [{ open: 1, trace: '00-abc' }],
      },
    });
  });

  it('the account that the agent acts as and the rule of the context go along', () => {
    const { record } = retryView();
    const { task, exclusive } = decideRetry(
      retryView({ record: { ...record, delegate: 'bot' }, exclusive: true }),
      COMMAND,
    );
    assert.deepEqual([task.delegate, exclusive], ['bot', true]);
  });

  it('one that was retried is not retried again, unless that is asked for', () => {
    const view = retryView({ turns: [turnOf(3, 'dead', { retriedAs: 'earlier' })] });
    refuses(() => decideRetry(view, COMMAND), 'ALREADY_RETRIED', /task earlier/);
    assert.equal(decideRetry(view, { ...COMMAND, again: true }).task.id, 'new');
  });

  it('a live task in its context hinders it where there may be one only', () => {
    refuses(
      () => decideRetry(retryView({ exclusive: true, activeTaskId: 'busy' }), COMMAND),
      'CONTEXT_BUSY',
      /task busy/,
    );
    assert.equal(decideRetry(retryView({ activeTaskId: 'busy' }), COMMAND).task.id, 'new');
  });

  it('a removed tenant runs nothing', () => {
    refuses(() => decideRetry(retryView({ tenant: 'removed' }), COMMAND), 'TENANT_REMOVED', /removed/);
  });
});

describe('the mark of a retried task', () => {
  const running = (metadata: { readonly [key: string]: string }) =>
    viewOf(recordOf('TASK_STATE_WORKING', { metadata }), { open: [executionOf(1, { attempt: 1, leased: true })] });
  const writer = { ordinal: 1, attempt: 1 };
  const shown = (change: Change) => {
    const event = change.events?.at(-1);
    return event && 'statusUpdate' in event ? event.statusUpdate.metadata : undefined;
  };

  it('stays whatever the agent says, in the task and in its events', () => {
    const view = running({ retryOf: 'old', before: 'x' });
    const said = { progress: 50, retryOf: 'forged' };
    const end = { state: 'TASK_STATE_COMPLETED', reply: false, taken: [], left: [], parkedMaxMs: 1 } as const;
    for (const change of [decideProgress(view, undefined, said), decideEnd(view, writer, { ...end, metadata: said })]) {
      assert.deepEqual(change.metadata, { progress: 50, retryOf: 'old' });
      assert.deepEqual(shown(change), change.metadata);
    }
    assert.equal(decideProgress(view, undefined).metadata, undefined);
  });

  it('cannot be set by an agent', () => {
    assert.deepEqual(decideProgress(running({}), undefined, { retryOf: 'forged', a: 1 }).metadata, { a: 1 });
  });
});
