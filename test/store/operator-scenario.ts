import assert from 'node:assert/strict';
import { decideRetry, type RetryCommand } from '../../core/decide/retry.ts';
import { OperatorRefusal, type RefusalCode } from '../../core/operator-refusal.ts';
import type { Act, AuditEntry } from '../../core/ports/operator-store.ts';
import type { Claimed, TaskRecord } from '../../core/ports/task-store.ts';
import { type AcceptOptions, accept, become, claim } from './scenario.ts';
import type { Subject } from './subject.ts';

/** What operators do to a store, in few words. */

export const CAROL: Act = { actor: 'carol', account: 'ops', reason: 'because' };

export async function refuses(promise: Promise<unknown>, code: RefusalCode, text?: RegExp): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert(error instanceof OperatorRefusal, `not an OperatorRefusal: ${String(error)}`);
    assert.equal(error.code, code);
    if (text) assert.match(error.message, text);
    return true;
  });
}

/** A task whose turn was claimed and failed for good. */
export async function failed(subject: Subject, options: AcceptOptions, error = 'lease lost'): Promise<Claimed> {
  await accept(subject, options);
  const [claimed] = await claim(subject, 'worker-of-the-dead', 1);
  assert.equal(claimed?.fence.taskId, options.id, 'nothing else waits');
  await subject.store.update({ taskId: options.id, fence: claimed.fence }, (view) =>
    become(view, 'TASK_STATE_FAILED', { executions: [{ close: 1, outcome: 'dead', error }] }),
  );
  return claimed;
}

export function retry({ operator }: Subject, taskId: string, command: Partial<RetryCommand> = {}): Promise<TaskRecord> {
  return operator.retry(CAROL, taskId, (view) =>
    decideRetry(view, { again: false, newTaskId: `retry-of-${taskId}`, deadlineMs: 60_000, ...command }),
  );
}

/** Oldest first, without what the clock and the store put in. */
export async function audited({ operator }: Subject): Promise<readonly Omit<AuditEntry, 'number' | 'at'>[]> {
  const entries = await operator.audit(1_000);
  return entries.map(({ number: _, at: __, ...entry }) => entry).reverse();
}

/** Lets the clock run until the promise is settled: for whoever takes breaks. */
export async function withTime<T>(subject: Subject, promise: Promise<T>): Promise<T> {
  let settled = false;
  const stop = (): void => {
    settled = true;
  };
  promise.then(stop, stop);
  while (!settled) {
    subject.advance(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return promise;
}
