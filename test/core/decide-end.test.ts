import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decideBegin, decideCancel, decideExpire, decideResume } from '../../core/decide/end.ts';
import { isDomainError } from '../../core/errors.ts';
import { isTerminal, TASK_STATES } from '../../core/task.ts';
import { executionOf, NOW, recordOf, statusOf, viewOf } from '../support/task-view.ts';

const OPEN = [executionOf(1, { leased: true, attempt: 1 }), executionOf(2)];

describe('decideCancel', () => {
  for (const state of TASK_STATES) {
    const view = viewOf(recordOf(state), { open: OPEN });
    if (state === 'TASK_STATE_CANCELED') {
      it(`${state}: nothing more to do`, () => assert.equal(decideCancel(view), undefined));
    } else if (isTerminal(state)) {
      it(`${state}: refused`, () => {
        assert.throws(
          () => decideCancel(view),
          (error) => isDomainError(error, 'TASK_NOT_CANCELABLE'),
        );
      });
    } else {
      it(`${state}: CANCELED, every open execution closed, in one change`, () => {
        const change = decideCancel(view);
        assert.equal(change?.status?.state, 'TASK_STATE_CANCELED');
        assert.deepEqual(change?.executions, [
          { close: 1, outcome: 'closed' },
          { close: 2, outcome: 'closed' },
        ]);
        assert.equal(change?.deadlineAt, null);
        assert.equal(change?.parked, null);
        assert.equal(change?.events?.length, 1);
      });
    }
  }
});

describe('decideExpire', () => {
  for (const state of TASK_STATES) {
    const expires = !isTerminal(state);
    it(`${state}, deadline passed: ${expires ? 'FAILED' : 'nothing'}`, () => {
      const change = decideExpire(viewOf(recordOf(state, { deadlineAt: NOW }), { open: OPEN }), 'm');
      assert.equal(change?.status?.state, expires ? 'TASK_STATE_FAILED' : undefined);
      if (!expires) return;
      assert.equal(change?.deadlineAt, null);
      assert.deepEqual(
        change?.executions?.map((write) => 'close' in write && [write.close, write.outcome]),
        [
          [1, 'closed'],
          [2, 'closed'],
        ],
      );
      assert.ok(change?.status?.message?.parts.length, 'people are told why');
    });
    it(`${state}, deadline to come or none: nothing`, () => {
      assert.equal(decideExpire(viewOf(recordOf(state, { deadlineAt: NOW + 1 })), 'm'), undefined);
      const { deadlineAt: _, ...record } = recordOf(state);
      assert.equal(decideExpire(viewOf(record), 'm'), undefined);
    });
  }

  it('says whether nobody answered or it took too long', () => {
    const textOf = (state: 'TASK_STATE_INPUT_REQUIRED' | 'TASK_STATE_WORKING') =>
      JSON.stringify(decideExpire(viewOf(recordOf(state, { deadlineAt: NOW })), 'm')?.status?.message?.parts);
    assert.match(textOf('TASK_STATE_INPUT_REQUIRED'), /answered/);
    assert.match(textOf('TASK_STATE_WORKING'), /longer/);
  });
});

describe('decideBegin', () => {
  it('a submitted task becomes WORKING', () => {
    const change = decideBegin(viewOf(recordOf('TASK_STATE_SUBMITTED'), { open: OPEN }), 'm');
    assert.equal(change?.status?.state, 'TASK_STATE_WORKING');
    assert.equal(change?.events?.length, 1);
  });
  it('one that says WORKING already keeps its words', () => {
    const record = recordOf('TASK_STATE_WORKING', { status: statusOf('TASK_STATE_WORKING', 'half way') });
    assert.equal(decideBegin(viewOf(record), 'm'), undefined);
  });
  it('one whose time is up is never started', () => {
    const change = decideBegin(viewOf(recordOf('TASK_STATE_SUBMITTED', { deadlineAt: NOW }), { open: OPEN }), 'm');
    assert.equal(change?.status?.state, 'TASK_STATE_FAILED');
  });
});

describe('decideResume', () => {
  const parked = { ordinal: 3, tokenHash: 'old' };

  it('another token runs the parked turn again', () => {
    const change = decideResume(viewOf(recordOf('TASK_STATE_AUTH_REQUIRED', { parked })), 'new');
    assert.equal(change?.status?.state, 'TASK_STATE_WORKING');
    assert.equal(change?.parked, null);
    assert.deepEqual(change?.executions, [{ requeue: 3 }]);
  });
  it('the token that did not do changes nothing', () => {
    assert.equal(decideResume(viewOf(recordOf('TASK_STATE_AUTH_REQUIRED', { parked })), 'old'), undefined);
  });
  it('an agent’s own request for authorization waits for a message', () => {
    assert.equal(decideResume(viewOf(recordOf('TASK_STATE_AUTH_REQUIRED')), 'new'), undefined);
  });
  for (const state of TASK_STATES.filter((each) => each !== 'TASK_STATE_AUTH_REQUIRED')) {
    it(`${state}: nothing waits for a token`, () => {
      assert.equal(decideResume(viewOf(recordOf(state, { parked })), 'new'), undefined);
    });
  }
});
