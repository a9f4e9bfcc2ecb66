import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ArtifactCommand, decideArtifact, dropLost } from '../../core/decide/artifact.ts';
import type { ArtifactUpdate } from '../../core/event.ts';
import { textOf } from '../../core/message.ts';
import type { ArtifactView, Change, TaskView } from '../../core/ports/task-store.ts';
import { artifactsOf, recordOf, viewOf } from '../support/task-view.ts';

const WRITER = { ordinal: 2, attempt: 3 };
const CLEAN: ArtifactView = { lost: false, kept: [] };
const LOST: ArtifactView = { lost: true, kept: [] };

function commandOf(changes: Partial<ArtifactCommand> = {}): ArtifactCommand {
  return {
    artifact: { artifactId: 'a', name: 'Brief', parts: [{ text: 'new' }] },
    append: false,
    lastChunk: false,
    first: true,
    joinsPrevious: false,
    ...changes,
  };
}

function viewWith(existing: ArtifactView | undefined): TaskView {
  return viewOf(recordOf('TASK_STATE_WORKING'), { artifacts: artifactsOf(existing ? { a: existing } : {}) });
}

function updatesOf(change: Change): readonly ArtifactUpdate[] {
  return (change.events ?? []).flatMap((event) => ('artifactUpdate' in event ? [event.artifactUpdate] : []));
}

describe('decideArtifact', () => {
  /** What is there, and how this chunk comes: the mode of the write and whether its first event appends. */
  const table: readonly (readonly [string, ArtifactView | undefined, Partial<ArtifactCommand>, string, boolean])[] = [
    ['a new artifact', undefined, {}, 'replace', false],
    ['a new artifact that says append', undefined, { append: true }, 'append', false],
    ['an append to what readers have', CLEAN, { append: true, first: false }, 'append', true],
    ['a first append to another turn’s artifact', CLEAN, { append: true }, 'append', true],
    ['a whole artifact over another turn’s', CLEAN, {}, 'replace', false],
    ['a rerun’s first append over a lost attempt', LOST, { append: true }, 'replace-lost', false],
    ['a rerun’s first chunk over a lost attempt', LOST, {}, 'replace', false],
    ['a rerun’s second append', LOST, { append: true, first: false }, 'append', true],
  ];
  for (const [name, existing, command, mode, appends] of table) {
    it(`${name}: ${mode}, ${appends ? 'sent as an append' : 'sent as a whole'}`, () => {
      const change = decideArtifact(viewWith(existing), WRITER, commandOf(command));
      assert.equal(change.artifacts?.[0]?.mode, mode);
      const updates = updatesOf(change);
      assert.equal(updates.length, 1);
      assert.equal(updates[0]?.append ?? false, appends);
      assert.deepEqual(updates[0]?.artifact, { artifactId: 'a', name: 'Brief', parts: [{ text: 'new' }] });
    });
  }

  it('the write names its turn and attempt', () => {
    const [write] = decideArtifact(viewWith(undefined), WRITER, commandOf()).artifacts ?? [];
    assert.equal(write?.ordinal, 2);
    assert.equal(write?.attempt, 3);
  });

  it('what other turns wrote is sent again before the first chunk of a rerun, and only the chunk is stored', () => {
    const kept = [{ text: 'turn one' }, { data: 1 }];
    const change = decideArtifact(viewWith({ lost: true, kept }), WRITER, commandOf({ append: true, lastChunk: true }));
    assert.deepEqual(
      updatesOf(change).map((update) => [update.append ?? false, update.lastChunk ?? false, update.artifact.parts]),
      [
        [false, false, kept],
        [true, true, [{ text: 'new' }]],
      ],
    );
    assert.deepEqual(change.artifacts?.[0]?.parts, [{ part: { text: 'new' }, joined: false }]);
  });

  it('what is sent again brings the labels that stay with it, changed and merged as the store does', () => {
    const labels = { name: 'Old', description: 'kept', metadata: { a: 1, b: 1 } };
    const view = viewWith({ lost: true, kept: [{ text: 'turn one' }], labels });
    const artifact = { artifactId: 'a', name: 'New', metadata: { b: 2 }, parts: [{ text: 'new' }] };
    const change = decideArtifact(view, WRITER, commandOf({ artifact, append: true }));
    const [first, second] = updatesOf(change).map((update) => update.artifact);
    assert.deepEqual(first, {
      ...{ artifactId: 'a', name: 'New', description: 'kept', metadata: { a: 1, b: 2 } },
      parts: [{ text: 'turn one' }],
    });
    assert.deepEqual(second, { artifactId: 'a', parts: [{ text: 'new' }] });
    assert.deepEqual(change.artifacts?.[0]?.metadata, { b: 2 });
  });

  it('a rerun that does not write it again sends what other turns wrote with its labels', () => {
    const lost = artifactsOf({ a: { lost: true, kept: [{ text: 'turn one' }], labels: { name: 'Old' } } });
    const change = dropLost(viewOf(recordOf('TASK_STATE_WORKING'), { lost }), WRITER);
    assert.deepEqual(
      updatesOf(change).map((update) => update.artifact),
      [{ artifactId: 'a', name: 'Old', parts: [{ text: 'turn one' }] }],
    );
  });

  it('text that continues is stored as joined; a part after it stands alone', () => {
    const artifact = { artifactId: 'a', parts: [{ text: 'x' }, { text: 'y' }] };
    const command = commandOf({ artifact, append: true, first: false, joinsPrevious: true });
    const [write] = decideArtifact(viewWith(CLEAN), WRITER, command).artifacts ?? [];
    assert.deepEqual(
      write?.parts.map((part) => part.joined),
      [true, false],
    );
  });

  it('a large text is several events, each with an append but the first, and one joined text in the store', () => {
    const text = '\u0001😀'.repeat(40_000);
    const command = commandOf({ artifact: { artifactId: 'a', name: 'Brief', parts: [{ text }] }, lastChunk: true });
    const change = decideArtifact(viewWith(undefined), WRITER, command);
    const updates = updatesOf(change);
    assert.ok(updates.length > 5);
    updates.forEach((update, index) => {
      assert.equal(update.append ?? false, index > 0);
      assert.equal(update.lastChunk ?? false, index === updates.length - 1);
      assert.equal(update.artifact.name, index === 0 ? 'Brief' : undefined);
    });
    assert.equal(updates.map((update) => textOf(update.artifact.parts)).join(''), text);
    const parts = change.artifacts?.[0]?.parts ?? [];
    assert.deepEqual(
      parts.map((part) => part.joined),
      parts.map((_, index) => index > 0),
    );
  });
});
