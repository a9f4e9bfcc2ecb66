import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decideSend, type SendCommand } from '../../core/decide/send.ts';
import { isDomainError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { AcceptDecision, AcceptView, TaskView } from '../../core/ports/task-store.ts';
import { isTerminal, TASK_STATES, type TaskState } from '../../core/task.ts';
import { acceptViewOf, executionOf, NOW, recordOf, viewOf } from '../support/task-view.ts';

type Policy = SendCommand['policy'];
const PARALLEL: Policy = 'parallel';
const SINGLE: Policy = 'single-active-task';

/** What a message names, when `task` is a task of `context`. */
const NAMES = {
  nothing: {},
  'its context': { contextId: 'context' },
  'the task': { taskId: 'task' },
  'task and context': { taskId: 'task', contextId: 'context' },
  'an unknown task': { taskId: 'nobody' },
  'an unknown task in its context': { taskId: 'nobody', contextId: 'context' },
  'the task in another context': { taskId: 'task', contextId: 'elsewhere' },
} as const;
type Named = keyof typeof NAMES;

/** Where it goes while the task lives, and once it has ended. `fresh`: a new context; `beside`: another task in `context`. */
const TABLE: Readonly<Record<Policy, Readonly<Record<Named, readonly [live: string, ended: string]>>>> = {
  parallel: {
    nothing: ['fresh', 'fresh'],
    'its context': ['beside', 'beside'],
    'the task': ['into', 'UNSUPPORTED_OPERATION'],
    'task and context': ['into', 'UNSUPPORTED_OPERATION'],
    'an unknown task': ['TASK_NOT_FOUND', 'TASK_NOT_FOUND'],
    'an unknown task in its context': ['TASK_NOT_FOUND', 'TASK_NOT_FOUND'],
    'the task in another context': ['INVALID_PARAMS', 'INVALID_PARAMS'],
  },
  'single-active-task': {
    nothing: ['fresh', 'fresh'],
    'its context': ['into', 'beside'],
    'the task': ['into', 'TASK_NOT_FOUND'],
    'task and context': ['into', 'beside'],
    'an unknown task': ['TASK_NOT_FOUND', 'TASK_NOT_FOUND'],
    'an unknown task in its context': ['into', 'beside'],
    'the task in another context': ['INVALID_PARAMS', 'INVALID_PARAMS'],
  },
};

function commandOf(policy: Policy, named: Named, changes: Partial<SendCommand> = {}): SendCommand {
  return {
    message: { messageId: 'm2', role: 'ROLE_USER', parts: [{ text: 'go on' }], ...NAMES[named] },
    fingerprint: 'same',
    policy,
    answer: 'task',
    deadlineMs: 60_000,
    newTaskId: 'new-task',
    newContextId: 'new-context',
    ...changes,
  };
}

/** What the store shows for a message that names this, with one task in this state. */
function worldOf(task: TaskView, named: Named): AcceptView {
  const names: { readonly taskId?: string; readonly contextId?: string } = NAMES[named];
  return acceptViewOf({
    ...(names.taskId === 'task' ? { task } : {}),
    ...(names.contextId === 'context' && !isTerminal(task.record.status.state) ? { active: task } : {}),
  });
}

function outcomeOf(decide: () => AcceptDecision): string {
  try {
    const decision = decide();
    if (decision.kind === 'repeat') return 'repeat';
    if (decision.kind === 'continue') return decision.taskId === 'task' ? 'into' : `into ${decision.taskId}`;
    assert.equal(decision.task.id, 'new-task');
    return { 'new-context': 'fresh', context: 'beside' }[decision.task.contextId] ?? decision.task.contextId;
  } catch (error) {
    if (isDomainError(error)) return error.code;
    throw error;
  }
}

function decided<K extends AcceptDecision['kind']>(decision: AcceptDecision, kind: K) {
  assert.equal(decision.kind, kind);
  return decision as Extract<AcceptDecision, { kind: K }>;
}

describe('decideSend', () => {
  for (const policy of [PARALLEL, SINGLE]) {
    for (const state of TASK_STATES) {
      for (const named of Object.keys(NAMES) as Named[]) {
        const expected = TABLE[policy][named][isTerminal(state) ? 1 : 0];
        const world = worldOf(viewOf(recordOf(state)), named);

        it(`${policy}, ${state}, a message that names ${named}: ${expected}`, () => {
          assert.equal(
            outcomeOf(() => decideSend(world, commandOf(policy, named))),
            expected,
          );
        });

        it(`${policy}, ${state}, a repeat that names ${named} is the first call's task, whatever the rules say now`, () => {
          const repeat = { fingerprint: 'same', taskId: 'task', sequence: 1, answer: 'task' as const };
          const repeated = { ...world, repeat: { ...repeat, record: recordOf(state) } };
          assert.equal(
            outcomeOf(() => decideSend(repeated, commandOf(policy, named))),
            'repeat',
          );
          assert.equal(
            outcomeOf(() => decideSend(repeated, commandOf(policy, named, { fingerprint: 'other' }))),
            'MESSAGE_ID_CONFLICT',
          );
          assert.equal(
            outcomeOf(() => decideSend({ ...world, repeat }, commandOf(policy, named))),
            'TASK_NOT_FOUND',
          );
        });

        it(`${policy}, ${state}, a removed tenant sends nothing that names ${named}`, () => {
          assert.equal(
            outcomeOf(() => decideSend({ ...world, tenant: 'removed' }, commandOf(policy, named))),
            'UNAUTHENTICATED',
          );
        });
      }
    }
  }

  it('a conflict reveals nothing of the first message', () => {
    const record = recordOf('TASK_STATE_WORKING', { id: 'secret-task', contextId: 'secret-context' });
    const repeat = { fingerprint: 'first-print', taskId: record.id, sequence: 1, answer: 'task' as const, record };
    assert.throws(
      () => decideSend(acceptViewOf({ repeat }), commandOf(PARALLEL, 'nothing')),
      (error) => isDomainError(error) && !/secret|first-print/.test(JSON.stringify([error.message, error.violations])),
    );
  });

  it('single-active-task: the context’s active task takes a message that names another, finished one', () => {
    const finished = viewOf(recordOf('TASK_STATE_COMPLETED', { id: 'finished' }));
    const active = viewOf(recordOf('TASK_STATE_WORKING'));
    assert.equal(
      outcomeOf(() => decideSend(acceptViewOf({ task: finished, active }), commandOf(SINGLE, 'task and context'))),
      'into',
    );
  });

  it('a new task: history, SUBMITTED, event, deadline and execution come in one change', () => {
    const command = commandOf(SINGLE, 'nothing', { delegate: 'bot', trace: 'trace-1', answer: 'message' });
    const status = { state: 'TASK_STATE_SUBMITTED', timestamp: new Date(NOW).toISOString() };
    assert.deepEqual(decideSend(acceptViewOf(), command), {
      kind: 'create',
      answer: 'message',
      exclusive: true,
      task: { id: 'new-task', contextId: 'new-context', delegate: 'bot' },
      change: {
        status,
        deadlineAt: NOW + 60_000,
        messages: [{ ...command.message, contextId: 'new-context', taskId: 'new-task' }],
        events: [{ task: { id: 'new-task', contextId: 'new-context', status } }],
        executions: [{ open: 1, trace: 'trace-1' }],
      },
    });
    assert.equal(decided(decideSend(acceptViewOf(), commandOf(PARALLEL, 'nothing')), 'create').exclusive, false);
  });

  it('a new task whose turn may begin: the same, and WORKING in a change behind it', () => {
    const command = commandOf(SINGLE, 'nothing', { trace: 'trace-1' });
    const decision = decided(decideSend(acceptViewOf({ free: true }), command), 'create');
    const { begin, ...rest } = decision;
    assert.deepEqual(rest, decideSend(acceptViewOf(), command));
    const status = { state: 'TASK_STATE_WORKING', timestamp: new Date(NOW).toISOString() };
    const statusUpdate = { taskId: 'new-task', contextId: 'new-context', status };
    assert.deepEqual(begin, { status, events: [{ statusUpdate }] });
  });

  it('a message to a task that is there, a repeat and a full queue begin nothing, however free', () => {
    const record = recordOf('TASK_STATE_WORKING');
    const free = { ...worldOf(viewOf(record), 'the task'), free: true };
    assert.equal('begin' in decided(decideSend(free, commandOf(PARALLEL, 'the task')), 'continue'), false);
    const repeat = { fingerprint: 'same', taskId: 'task', sequence: 1, answer: 'task', record } as const;
    assert.deepEqual(decideSend({ ...free, repeat }, commandOf(PARALLEL, 'nothing')), { kind: 'repeat' });
    const queued = { tenant: LIMITS.queueMaxPerTenant, everybody: LIMITS.queueMaxPerTenant };
    assert.throws(
      () => decideSend({ ...free, queued }, commandOf(PARALLEL, 'nothing')),
      (error) => isDomainError(error, 'OVERLOADED'),
    );
  });

  for (const state of ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'] as const) {
    it(`a message to a task in ${state} waits in its inbox: state and deadline stay`, () => {
      const task = viewOf(recordOf(state, { messages: 3 }), { open: [executionOf(1), executionOf(3)] });
      const { change } = decided(decideSend(worldOf(task, 'the task'), commandOf(PARALLEL, 'the task')), 'continue');
      assert.equal(change.status?.state, state);
      assert.equal('deadlineAt' in change, false);
      assert.deepEqual(change.executions, [{ open: 4 }]);
      assert.deepEqual(
        change.messages?.map((message) => [message.messageId, message.taskId, message.contextId]),
        [['m2', 'task', 'context']],
      );
      assert.equal(change.events?.length, 1);
    });
  }

  it('an answer to a question keeps the question in the history, before the answer, and starts the clock again', () => {
    const record = recordOf('TASK_STATE_INPUT_REQUIRED', { messages: 1, deadlineAt: NOW + 1 });
    const question = { messageId: 'q', role: 'ROLE_AGENT' as const, parts: [{ text: 'Which one?' }] };
    const asked = viewOf({ ...record, status: { ...record.status, message: question } });
    const { change } = decided(decideSend(worldOf(asked, 'the task'), commandOf(PARALLEL, 'the task')), 'continue');
    assert.deepEqual(
      change.messages?.map((message) => message.messageId),
      ['q', 'm2'],
    );
    assert.deepEqual(change.executions, [{ open: 3 }], 'the execution answers the user’s message, not the question');
    assert.equal(change.status?.state, 'TASK_STATE_WORKING');
    assert.equal(change.status?.message, undefined, 'the old question is no answer');
    assert.equal(change.deadlineAt, NOW + 60_000);
  });

  it('a message to a task that is parked for a token runs the parked turn first', () => {
    const parked = { ordinal: 1, tokenHash: 'hash' };
    const task = viewOf(recordOf('TASK_STATE_AUTH_REQUIRED', { parked }));
    const { change } = decided(decideSend(worldOf(task, 'the task'), commandOf(PARALLEL, 'the task')), 'continue');
    assert.deepEqual(change.executions, [{ requeue: 1 }, { open: 2 }]);
    assert.equal(change.parked, null);
    assert.equal(change.status?.state, 'TASK_STATE_WORKING');
  });

  it('a message to a task whose agent asked for authorization itself opens one turn', () => {
    const task = viewOf(recordOf('TASK_STATE_AUTH_REQUIRED'));
    const { change } = decided(decideSend(worldOf(task, 'the task'), commandOf(PARALLEL, 'the task')), 'continue');
    assert.deepEqual(change.executions, [{ open: 2 }]);
  });

  it('a full inbox is refused and says when to come again', () => {
    const open = Array.from({ length: LIMITS.inboxMax }, (_, index) => executionOf(index + 1));
    const task = viewOf(recordOf('TASK_STATE_WORKING'), { open });
    assert.throws(
      () => decideSend(worldOf(task, 'the task'), commandOf(PARALLEL, 'the task')),
      (error) => isDomainError(error, 'OVERLOADED') && (error.retryAfterMs ?? 0) > 0,
    );
  });

  it('too many bytes that wait are refused and say when to come again', () => {
    const full = { inbox: LIMITS.inboxBytes, history: LIMITS.inboxBytes };
    const send = (volume: TaskView['volume']) => {
      const task = viewOf(recordOf('TASK_STATE_WORKING'), { ...(volume ? { volume } : {}) });
      return decideSend(worldOf(task, 'the task'), commandOf(PARALLEL, 'the task'));
    };
    assert.throws(
      () => send(full),
      (error) => isDomainError(error, 'OVERLOADED') && (error.retryAfterMs ?? 0) > 0,
    );
    decided(send({ ...full, inbox: LIMITS.inboxBytes - 1 }), 'continue');
  });

  it('a full queue is refused for every message but a repeat, and says whose it is and when to come again', () => {
    const queueMax = { tenant: 2, everybody: 4 };
    const view = worldOf(viewOf(recordOf('TASK_STATE_WORKING')), 'the task');
    const send = (queued: AcceptView['queued'], named: Named) =>
      decideSend({ ...view, queued }, commandOf(PARALLEL, named, { queueMax }));
    const full = (limit: string) => (error: unknown) =>
      isDomainError(error, 'OVERLOADED') && error.limit === limit && (error.retryAfterMs ?? 0) > 0;
    for (const named of ['nothing', 'the task'] as const) {
      assert.throws(() => send({ tenant: 2, everybody: 2 }, named), full('queue-per-tenant'));
      assert.throws(() => send({ tenant: 0, everybody: 4 }, named), full('queue'));
      assert.ok(send({ tenant: 1, everybody: 3 }, named));
    }
    const record = recordOf('TASK_STATE_WORKING');
    const repeat = { fingerprint: 'same', taskId: 'task', sequence: 1, answer: 'task', record } as const;
    const queued = { tenant: 2, everybody: 4 };
    assert.deepEqual(decideSend({ ...view, repeat, queued }, commandOf(PARALLEL, 'nothing', { queueMax })), {
      kind: 'repeat',
    });
  });

  it('a full history takes no more, by bytes and by number', () => {
    const send = (history: number, messages: number) => {
      const task = viewOf(recordOf('TASK_STATE_WORKING', { messages }), { volume: { inbox: 0, history } });
      return decideSend(worldOf(task, 'the task'), commandOf(PARALLEL, 'the task'));
    };
    const isFull = (error: unknown) => isDomainError(error, 'UNSUPPORTED_OPERATION');
    assert.throws(() => send(LIMITS.historyBytes, 1), isFull);
    assert.throws(() => send(1, LIMITS.historyMax), isFull);
    decided(send(LIMITS.historyBytes - 1, LIMITS.historyMax - 1), 'continue');
  });

  it('the timestamp of a follow-up never goes back', () => {
    const later: TaskState = 'TASK_STATE_INPUT_REQUIRED';
    const status = { state: later, timestamp: new Date(NOW + 9_000).toISOString() };
    const task = viewOf(recordOf(later, { status }));
    const { change } = decided(decideSend(worldOf(task, 'the task'), commandOf(PARALLEL, 'the task')), 'continue');
    assert.equal(change.status?.timestamp, status.timestamp);
  });
});
