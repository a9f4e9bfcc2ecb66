import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cancelAsOperator, closeExecution, erasePrincipal, retryExecution } from '../../core/operations/operate.ts';
import { readStory, type StoryEntry } from '../../core/operations/task-story.ts';
import { sha256, timeOrderedIds } from '../../src/system-clock.ts';
import { audited, CAROL, failed, refuses, withTime } from '../store/operator-scenario.ts';
import { ALICE, accept, become, claimOne, end, followUp, LEASE_MS, status, write } from '../store/scenario.ts';
import { openSqliteSubject } from '../store/sqlite-subject.ts';

const deps = { ids: timeOrderedIds, digest: sha256 };

/** The entry in a few words. */
function told(entry: StoryEntry): string {
  switch (entry.kind) {
    case 'message':
      return `message ${entry.turn?.ordinal ?? '-'} ${entry.message.messageId}`;
    case 'attempt':
      return `attempt ${entry.attempt.ordinal}.${entry.attempt.attempt} ${entry.attempt.worker}`;
    case 'status':
      return `${entry.sequence} ${entry.state.replace('TASK_STATE_', '')}`;
    case 'artifact':
      return `${entry.sequence}-${entry.lastSequence} ${entry.artifactId} ${entry.characters}+${entry.otherParts}`;
    case 'step-started':
    case 'step-finished':
      return `${entry.kind} ${entry.step.key}`;
    case 'turn-ended':
      return `turn ${entry.turn.ordinal} ${entry.turn.outcome}`;
    case 'act':
      return entry.act.act;
  }
}

test('readStory: everything in the order in which it happened; runs of one artifact are one entry', async (t) => {
  const subject = await openSqliteSubject(t);
  const { store, operator } = subject;
  await accept(subject, { id: 't1', text: 'one' });
  subject.advance(1);
  await claimOne(subject, 'worker-1');
  subject.advance(LEASE_MS);
  const { fence } = await claimOne(subject, 'worker-2');
  await store.update({ taskId: 't1', fence }, (view) => become(view, 'TASK_STATE_WORKING'));
  subject.advance(1);
  await store.beginStep(fence, 'post');
  subject.advance(1);
  await store.endStep(fence, 'post', null);
  for (const artifactId of ['a', 'a', 'b', 'a']) {
    subject.advance(1);
    await write(subject, fence, { text: 'four', artifactId });
  }
  subject.advance(1);
  await store.update({ taskId: 't1', fence }, (view) =>
    become(view, 'TASK_STATE_FAILED', { executions: [{ close: 1, outcome: 'dead', error: 'it broke' }] }),
  );
  subject.advance(1);
  await closeExecution({ ...deps, operator }, CAROL, { taskId: 't1' });
  const story = await readStory({ operator, store }, 't1');
  assert.deepEqual(story?.entries.map(told), [
    'message 1 m-one',
    '1 SUBMITTED',
    'attempt 1.1 worker-1',
    'attempt 1.2 worker-2',
    '2 WORKING',
    'step-started post',
    'step-finished post',
    '3-4 a 8+0',
    '5-5 b 4+0',
    '6-6 a 4+0',
    '7 FAILED',
    'turn 1 closed',
    'execution.close',
  ]);
  assert.deepEqual(story?.file.record, await store.record(ALICE, 't1'));
  assert.equal(await readStory({ operator, store }, 'nowhere'), undefined);
});

test('readStory: events keep their order also when the clock went back, and many pages of them are read', async (t) => {
  const subject = await openSqliteSubject(t);
  const { store, operator } = subject;
  await accept(subject, { id: 't1' });
  subject.advance(-10_000);
  for (let n = 0; n < 300; n += 1) {
    await store.update({ taskId: 't1' }, (view) => become(view, 'TASK_STATE_WORKING'));
  }
  const story = await readStory({ operator, store }, 't1');
  const sequences = story?.entries.flatMap((entry) => (entry.kind === 'status' ? [entry.sequence] : []));
  assert.deepEqual(
    sequences,
    Array.from({ length: 301 }, (_, n) => n + 1),
  );
});

test('readStory: what the agent said is told once, by its event', async (t) => {
  const subject = await openSqliteSubject(t);
  const { store, operator } = subject;
  await accept(subject, { id: 't1', text: 'one' });
  subject.advance(1);
  await store.update({ taskId: 't1' }, (view) => {
    const asked = status('TASK_STATE_INPUT_REQUIRED', view.now, 'which one?');
    const event = { statusUpdate: { taskId: 't1', contextId: view.record.contextId, status: asked } };
    return { status: asked, events: [event], executions: [{ close: 1, outcome: 'done' }] };
  });
  subject.advance(1);
  await store.update({ taskId: 't1' }, (view) => {
    const question = view.record.status.message;
    assert(question);
    const { messages = [] } = followUp(view, 'two');
    const change = become(view, 'TASK_STATE_WORKING');
    return { ...change, messages: [question, ...messages], executions: [{ open: 3 }] };
  });
  const story = await readStory({ operator, store }, 't1');
  assert.deepEqual(story?.entries.map(told), [
    'message 1 m-one',
    '1 SUBMITTED',
    '2 INPUT_REQUIRED',
    'turn 1 done',
    'message 3 m-two',
    '3 WORKING',
  ]);
});

test('cancelAsOperator: the caller reads fixed words; a task that has ended otherwise is refused and says how', async (t) => {
  const subject = await openSqliteSubject(t);
  const { operator } = subject;
  await accept(subject, { id: 't1' });
  const { record } = await cancelAsOperator({ ...deps, operator }, CAROL, 't1');
  assert.deepEqual(record.status.message?.parts, [{ text: 'An operator of this agent canceled this.' }]);
  assert.equal((await cancelAsOperator({ ...deps, operator }, CAROL, 't1')).changed, false);
  await accept(subject, { id: 't2' });
  await end(subject, 't2');
  await refuses(cancelAsOperator({ ...deps, operator }, CAROL, 't2'), 'TASK_ENDED', /as TASK_STATE_COMPLETED/);
});

test('retryExecution and erasePrincipal: ids and pseudonyms are made here', async (t) => {
  const subject = await openSqliteSubject(t);
  const { operator } = subject;
  await failed(subject, { id: 't1' });
  const request = { taskId: 't1', again: false, deadlineMs: 1_000 };
  const { id } = await retryExecution({ ...deps, operator }, CAROL, request);
  assert.match(id, /^[0-9a-f-]{36}$/);
  const erasing = erasePrincipal({ ...deps, operator }, CAROL, { principal: ALICE.principal });
  assert.equal(await withTime(subject, erasing), 2);
  const [, erased] = await audited(subject);
  assert.equal(erased?.principal, sha256(ALICE.principal).slice(0, 12));
});
