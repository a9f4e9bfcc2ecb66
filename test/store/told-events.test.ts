import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notifyTold, toldLine } from '../../adapters/sqlite/told-events.ts';
import type { StoredEvent } from '../../core/event.ts';
import type { Written } from '../../core/ports/wakeups.ts';

function writtenOf(first: number, last: number, text = 'a\tb\nc"'): Written {
  const events = Array.from({ length: last - first + 1 }, (_, index): StoredEvent => {
    const artifact = { artifactId: 'a', parts: [{ text }] };
    return { sequence: first + index, at: 7, body: { artifactUpdate: { taskId: 't1', contextId: 'c1', artifact } } };
  });
  return { first, last, events, reply: last > 3 };
}

function heard(...told: readonly string[]) {
  const notices: [topic: string, written: Written | undefined][] = [];
  notifyTold({ notify: (topic, written) => notices.push([topic, written]) }, told.join(''));
  return notices.map(([topic, written]) => {
    if (!written) return { topic };
    const { first, last, events, reply } = written;
    return { topic, first, last, events, reply };
  });
}

function told(topic: string, written: Written) {
  return toldLine(topic, written) ?? assert.fail('too large');
}

test('told events: a task is notified once, with what all commits of a message wrote to it', () => {
  const others = writtenOf(9, 9);
  assert.deepEqual(
    heard(
      told('task:t1', writtenOf(1, 1)),
      told('task:t2', others),
      told('task:t1', writtenOf(2, 3)),
      told('task:t1', writtenOf(4, 4)),
    ),
    [
      { topic: 'task:t1', ...writtenOf(1, 4) },
      { topic: 'task:t2', ...others },
    ],
  );
});

test('told events: a large commit is not told, so whoever wants it reads it', () => {
  assert.equal(toldLine('task:t1', writtenOf(1, 1, 'x'.repeat(70_000))), undefined);
  assert.equal(toldLine('task:t1', writtenOf(1, 20, 'x'.repeat(5_000))), undefined);
});

test('told events: commits that do not follow each other are not told, so whoever wants them reads them', () => {
  assert.deepEqual(
    heard(
      told('task:t1', writtenOf(1, 1)),
      told('task:t1', writtenOf(3, 3)),
      told('task:t1', writtenOf(4, 4)),
      told('task:t2', writtenOf(9, 9)),
    ),
    [{ topic: 'task:t1' }, { topic: 'task:t2', ...writtenOf(9, 9) }],
  );
});
