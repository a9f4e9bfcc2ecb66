import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placeholderOf } from '../../core/cut-marks.ts';
import type { ArtifactUpdate, EventBody } from '../../core/event.ts';
import type { Part } from '../../core/message.ts';
import type { Artifact, TaskState } from '../../core/task.ts';
import { createFold, foldEvents } from '../../core/verify/fold.ts';
import { readShownParts } from '../../core/verify/shown-parts.ts';

const OF = { taskId: 'task', contextId: 'context' };
const TEXT = (text: string): Part => ({ text });

function task(artifacts?: readonly Artifact[]): EventBody {
  const status = { state: 'TASK_STATE_SUBMITTED', timestamp: '2030-01-01T00:00:00.000Z' } as const;
  return { task: { id: 'task', contextId: 'context', status, ...(artifacts ? { artifacts } : {}) } };
}

function status(state: TaskState, metadata?: { readonly [key: string]: string }): EventBody {
  return {
    statusUpdate: {
      ...OF,
      status: { state, timestamp: '2030-01-01T00:00:01.000Z' },
      ...(metadata ? { metadata } : {}),
    },
  };
}

function artifact(update: Partial<ArtifactUpdate> & { readonly artifact: Artifact }): EventBody {
  return { artifactUpdate: { ...OF, ...update } };
}

function partsOf(events: readonly EventBody[], artifactId = 'a'): readonly Part[] | undefined {
  return foldEvents(events).artifacts.get(artifactId)?.parts;
}

describe('foldEvents', () => {
  it('the last status counts, and the last metadata that an event brought', () => {
    const folded = foldEvents([task(), status('TASK_STATE_WORKING', { half: 'done' }), status('TASK_STATE_COMPLETED')]);
    assert.equal(folded.status?.state, 'TASK_STATE_COMPLETED');
    assert.deepEqual(folded.metadata, { half: 'done' });
    assert.equal(folded.artifacts.size, 0);
  });

  it('an artifact update replaces the artifact unless it appends', () => {
    const one = artifact({ artifact: { artifactId: 'a', name: 'A', parts: [TEXT('one')] } });
    const more = artifact({ append: true, artifact: { artifactId: 'a', parts: [TEXT(' more')] } });
    assert.deepEqual(partsOf([task(), one, more]), [TEXT('one'), TEXT(' more')]);
    assert.equal(foldEvents([task(), one, more]).artifacts.get('a')?.name, 'A');
    assert.deepEqual(partsOf([task(), one, more, one]), [TEXT('one')]);
  });

  it('an append changes labels that it names and merges metadata', () => {
    const first = { artifactId: 'a', name: 'A', description: 'kept', metadata: { x: 1, y: 1 }, parts: [TEXT('1')] };
    const second = { artifactId: 'a', name: 'B', metadata: { y: 2 }, parts: [TEXT('2')] };
    const folded = foldEvents([task(), artifact({ artifact: first }), artifact({ append: true, artifact: second })]);
    assert.deepEqual(folded.artifacts.get('a'), {
      ...{ artifactId: 'a', name: 'B', description: 'kept', metadata: { x: 1, y: 2 } },
      parts: [TEXT('1'), TEXT('2')],
    });
  });

  it('an append to what no reader has is a fault and changes nothing', () => {
    const fold = createFold();
    assert.equal(fold.add(task()), undefined);
    assert.equal(
      fold.add(artifact({ append: true, artifact: { artifactId: 'a', parts: [TEXT('1')] } })),
      'append-to-unknown',
    );
    assert.equal(fold.add({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [] } }), 'bare-message');
    assert.equal(fold.folded.artifacts.size, 0);
  });

  it('a superseded artifact is withdrawn; one that an agent marks so but fills is not', () => {
    const one = artifact({ artifact: { artifactId: 'a', parts: [TEXT('one')] } });
    const gone = { artifactId: 'a', metadata: { superseded: true }, parts: [TEXT('')] };
    assert.equal(partsOf([task(), one, artifact({ lastChunk: true, artifact: gone })]), undefined);
    const filled = artifact({ lastChunk: true, artifact: { ...gone, parts: [TEXT('still here')] } });
    assert.deepEqual(partsOf([task(), one, filled]), [TEXT('still here')]);
  });

  it('a Task replaces everything that was before it', () => {
    const one = artifact({ artifact: { artifactId: 'a', parts: [TEXT('one')] } });
    const folded = foldEvents([task(), one, task([{ artifactId: 'b', parts: [TEXT('two')] }])]);
    assert.deepEqual([...folded.artifacts.keys()], ['b']);
  });

  it('leaves the events alone', () => {
    const parts = Object.freeze([TEXT('one')]);
    const first = Object.freeze({ artifactId: 'a', parts });
    const more = artifact({ append: true, artifact: { artifactId: 'a', parts: [TEXT('two')] } });
    assert.equal(partsOf([task(), artifact({ artifact: first }), more])?.length, 2);
    assert.deepEqual(parts, [TEXT('one')]);
  });
});

describe('readShownParts', () => {
  const data: Part = { data: { x: [1, null] }, mediaType: 'application/json' };
  const file: Part = { raw: 'AAAA', filename: 'a.bin' };

  function same(stored: readonly Part[], shown: readonly Part[]): boolean {
    const reader = readShownParts(shown);
    return stored.every((part) => reader.next(part)) && reader.ended();
  }

  it('compares text across differently cut parts', () => {
    assert.ok(same([TEXT('ab'), TEXT('cdef')], [TEXT('a'), TEXT(''), TEXT('bcd'), TEXT('ef')]));
    assert.ok(same([], [TEXT('')]));
    assert.ok(!same([TEXT('ab')], [TEXT('a'), TEXT('c')]));
  });

  it('text missing on either side is a difference', () => {
    assert.ok(!same([TEXT('abc')], [TEXT('ab')]));
    assert.ok(!same([TEXT('ab')], [TEXT('abc')]));
    assert.ok(!same([], [data]));
  });

  it('other parts must be equal and in their place between the texts', () => {
    assert.ok(same([TEXT('a'), data, TEXT('b')], [TEXT('a'), data, TEXT('b')]));
    assert.ok(!same([TEXT('a'), data, TEXT('b')], [TEXT('ab'), data]));
    assert.ok(!same([data], [{ ...data, data: { x: [1] } }]));
  });

  it('a part that no frame could hold may be named by its placeholder, and only by its own', () => {
    assert.ok(same([TEXT('see '), file, TEXT('!')], [TEXT('see '), placeholderOf(file), TEXT('!')]));
    assert.ok(!same([file], [placeholderOf({ ...file, filename: 'b.bin' })]));
    assert.ok(!same([file], [TEXT(`see ${placeholderOf(file).text}`)]));
  });
});
