import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decideEnd,
  decideFail,
  decideGiveBack,
  decidePark,
  decideProgress,
  type EndCommand,
} from '../../core/decide/turn.ts';
import type { Change, TaskView } from '../../core/ports/task-store.ts';
import type { InterruptedState, TerminalState } from '../../core/task.ts';
import { artifactsOf, executionOf, NOW, recordOf, viewOf } from '../support/task-view.ts';

const WRITER = { ordinal: 1, attempt: 1 };
const SAYING = { messageId: 'answer', parts: [{ text: 'Done.' }] };
const PARKED_MAX_MS = 9_000;

function endOf(state: EndCommand['state'], changes: Partial<EndCommand> = {}): EndCommand {
  return { state, saying: SAYING, reply: false, taken: [], left: [], parkedMaxMs: PARKED_MAX_MS, ...changes };
}

/** A running turn 1 with the messages 2, 3 … open beside it. */
function running(...others: readonly number[]): TaskView {
  const open = [executionOf(1, { attempt: 1, leased: true }), ...others.map((ordinal) => executionOf(ordinal))];
  return viewOf(recordOf('TASK_STATE_WORKING', { messages: 1 + others.length }), { open });
}

function stateOf(change: Change): string | undefined {
  return change.status?.state;
}

function lastEventState(change: Change): string | undefined {
  const event = change.events?.at(-1);
  return event && 'statusUpdate' in event ? event.statusUpdate.status.state : undefined;
}

const CONTINUABLE = [
  'TASK_STATE_COMPLETED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
] as const satisfies readonly (InterruptedState | TerminalState)[];
const FINAL = [
  'TASK_STATE_FAILED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_CANCELED',
] as const satisfies readonly TerminalState[];

describe('decideEnd', () => {
  for (const state of [...CONTINUABLE, ...FINAL]) {
    it(`${state}: one commit closes the turn, sets the state and writes its event`, () => {
      const change = decideEnd(running(), WRITER, endOf(state));
      assert.equal(stateOf(change), state);
      assert.equal(lastEventState(change), state);
      assert.equal(change.events?.length, 1);
      assert.deepEqual(change.executions, [{ close: 1, outcome: 'done' }]);
      assert.deepEqual(change.status?.message?.parts, SAYING.parts);
      assert.equal(change.status?.message?.taskId, 'task');
      assert.equal(change.status?.message?.contextId, 'context');
    });
  }

  for (const state of CONTINUABLE) {
    it(`${state} with an untaken message is WORKING with the same text, and the text joins the history`, () => {
      const change = decideEnd(running(2), WRITER, endOf(state));
      assert.equal(stateOf(change), 'TASK_STATE_WORKING');
      assert.equal(lastEventState(change), 'TASK_STATE_WORKING');
      assert.deepEqual(change.status?.message?.parts, SAYING.parts);
      assert.deepEqual(
        change.messages?.map((message) => [message.messageId, message.role]),
        [['answer', 'ROLE_AGENT']],
      );
      assert.deepEqual(change.executions, [{ close: 1, outcome: 'done' }], 'the message’s own execution stays open');
      assert.equal('deadlineAt' in change, false, 'the clock of the interaction runs on');
      assert.equal('reply' in change, false);
    });

    it(`${state} ends when its inbox handed every message over`, () => {
      const change = decideEnd(running(2, 3), WRITER, endOf(state, { taken: [2, 3] }));
      assert.equal(stateOf(change), state);
      assert.deepEqual(change.executions, [
        { close: 1, outcome: 'done' },
        { close: 2, outcome: 'done', takenBy: 1 },
        { close: 3, outcome: 'done', takenBy: 1 },
      ]);
    });

    it(`${state} goes on for the one message that was not taken`, () => {
      const change = decideEnd(running(2, 3), WRITER, endOf(state, { taken: [2] }));
      assert.equal(stateOf(change), 'TASK_STATE_WORKING');
    });

    it(`${state} of a rerun opens again what a lost attempt had taken and this one did not`, () => {
      const change = decideEnd(running(), { ordinal: 1, attempt: 2 }, endOf(state, { left: [2] }));
      assert.equal(stateOf(change), 'TASK_STATE_WORKING');
      assert.deepEqual(change.executions, [{ close: 1, outcome: 'done' }, { requeue: 2 }]);
    });
  }

  for (const state of FINAL) {
    it(`${state} is final: open and untaken messages are closed`, () => {
      const change = decideEnd(running(2, 3), WRITER, endOf(state, { taken: [2], left: [3, 4] }));
      assert.equal(stateOf(change), state);
      assert.deepEqual(change.executions, [
        { close: 1, outcome: 'done' },
        { close: 2, outcome: 'done', takenBy: 1 },
        { close: 3, outcome: 'closed' },
      ]);
    });
  }

  const deadlines = [
    ['TASK_STATE_COMPLETED', null],
    ['TASK_STATE_FAILED', null],
    ['TASK_STATE_REJECTED', null],
    ['TASK_STATE_CANCELED', null],
    ['TASK_STATE_INPUT_REQUIRED', NOW + PARKED_MAX_MS],
    ['TASK_STATE_AUTH_REQUIRED', undefined],
  ] as const;
  for (const [state, deadlineAt] of deadlines) {
    const words =
      deadlineAt === null ? 'ends the deadline' : deadlineAt ? 'has its own deadline' : 'keeps the deadline';
    it(`${state} ${words}`, () => {
      assert.equal(decideEnd(running(), WRITER, endOf(state)).deadlineAt, deadlineAt);
    });
  }

  it('a message that was taken before is not closed twice', () => {
    const change = decideEnd(running(), { ordinal: 1, attempt: 2 }, endOf('TASK_STATE_COMPLETED', { taken: [2] }));
    assert.deepEqual(change.executions, [{ close: 1, outcome: 'done' }]);
  });

  it('a reply marks the task as answered by a Message, unless it goes on', () => {
    const command = endOf('TASK_STATE_COMPLETED', { reply: true });
    assert.equal(decideEnd(running(), WRITER, command).reply, true);
    assert.equal('reply' in decideEnd(running(2), WRITER, command), false);
  });

  it('metadata goes to the task and to the event', () => {
    const change = decideEnd(running(), WRITER, endOf('TASK_STATE_COMPLETED', { metadata: { a: 1 } }));
    assert.deepEqual(change.metadata, { a: 1 });
    const event = change.events?.at(-1);
    assert.deepEqual(event && 'statusUpdate' in event && event.statusUpdate.metadata, { a: 1 });
  });

  it('an end without words has no message, in the history neither', () => {
    const { saying: _, ...silent } = endOf('TASK_STATE_COMPLETED');
    assert.equal(decideEnd(running(), WRITER, silent).status?.message, undefined);
    assert.equal('messages' in decideEnd(running(2), WRITER, silent), false);
  });

  it('artifacts of lost attempts leave, marked, before the last status', () => {
    const view = { ...running(), lost: artifactsOf({ old: { lost: true, kept: [] } }) };
    const change = decideEnd(view, { ordinal: 1, attempt: 2 }, endOf('TASK_STATE_COMPLETED'));
    assert.deepEqual(change.artifacts, [{ mode: 'drop-lost', artifactId: 'old', ordinal: 1, attempt: 2, parts: [] }]);
    const [gone, end] = change.events ?? [];
    assert.deepEqual(gone && 'artifactUpdate' in gone && gone.artifactUpdate.artifact, {
      artifactId: 'old',
      parts: [{ text: '' }],
      metadata: { superseded: true },
    });
    assert.equal(end && 'statusUpdate' in end, true);
  });

  it('an artifact that other turns wrote as well keeps their parts and is sent again without the lost ones', () => {
    const view = { ...running(), lost: artifactsOf({ shared: { lost: true, kept: [{ text: 'first turn' }] } }) };
    const [sent] = decideEnd(view, { ordinal: 1, attempt: 2 }, endOf('TASK_STATE_COMPLETED')).events ?? [];
    assert.deepEqual(sent && 'artifactUpdate' in sent && sent.artifactUpdate, {
      taskId: 'task',
      contextId: 'context',
      artifact: { artifactId: 'shared', parts: [{ text: 'first turn' }] },
      lastChunk: true,
    });
  });
});

describe('decideFail', () => {
  it('is FAILED with fixed words outward; the reason stays on the dead execution', () => {
    const change = decideFail(running(2, 3), WRITER, { saying: SAYING, error: 'Error: secret', taken: [2] });
    assert.equal(stateOf(change), 'TASK_STATE_FAILED');
    assert.equal(change.deadlineAt, null);
    assert.deepEqual(change.executions, [
      { close: 1, outcome: 'dead', error: 'Error: secret' },
      { close: 2, outcome: 'done', takenBy: 1 },
      { close: 3, outcome: 'closed' },
    ]);
    assert.doesNotMatch(JSON.stringify([change.status, change.events]), /secret/);
  });
});

describe('decidePark', () => {
  const command = { saying: SAYING, tokenHash: 'old', taken: [] };

  it('waits in AUTH_REQUIRED for another token, with every waiting message kept for the rerun’s inbox', () => {
    const change = decidePark({ ...running(2), credentialHash: 'old' }, WRITER, command);
    assert.equal(stateOf(change), 'TASK_STATE_AUTH_REQUIRED');
    assert.deepEqual(change.parked, { ordinal: 1, tokenHash: 'old' });
    assert.deepEqual(change.executions, [
      { close: 1, outcome: 'closed' },
      { close: 2, outcome: 'done', takenBy: 1 },
    ]);
    assert.equal('deadlineAt' in change, false, 'the deadline runs on');
  });

  it('runs again at once when another token came in the meantime', () => {
    const change = decidePark({ ...running(2), credentialHash: 'new' }, WRITER, { ...command, taken: [2] });
    assert.deepEqual(change, { executions: [{ requeue: 1 }, { close: 2, outcome: 'done', takenBy: 1 }] });
  });

  it('a token that cannot be read here parks, or the turn would run in circles', () => {
    const change = decidePark({ ...running(), credentialHash: 'new' }, WRITER, { ...command, tokenHash: '' });
    assert.equal(stateOf(change), 'TASK_STATE_AUTH_REQUIRED');
    assert.deepEqual(change.parked, { ordinal: 1, tokenHash: '' });
  });
});

describe('decideProgress', () => {
  it('is WORKING with the words, and closes nothing', () => {
    const change = decideProgress(running(2), SAYING, { step: 2 });
    assert.equal(stateOf(change), 'TASK_STATE_WORKING');
    assert.deepEqual(change.metadata, { step: 2 });
    assert.equal('executions' in change, false);
    assert.equal(decideProgress(running(), undefined).status?.message, undefined);
  });
});

describe('decideGiveBack', () => {
  it('makes the turn claimable again and keeps what its inbox had taken', () => {
    assert.deepEqual(decideGiveBack(running(2), WRITER, [2]), {
      executions: [{ requeue: 1 }, { close: 2, outcome: 'done', takenBy: 1 }],
    });
  });
});
