import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { mayBeCut } from '../../core/cut-marks.ts';
import { decideArtifact } from '../../core/decide/artifact.ts';
import { escapedLength, splitText } from '../../core/escaped-text.ts';
import type { EventBody } from '../../core/event.ts';
import { artifactEvents, sliceParts, smallMessage, smallStatusUpdate, snapshotFrames } from '../../core/frame-size.ts';
import { LIMITS } from '../../core/limits.ts';
import { isText, type Message, type Part, textOf } from '../../core/message.ts';
import { checkUpdate } from '../../core/runtime/agent-update.ts';
import type { Artifact, Task } from '../../core/task.ts';
import { applyEvent, EMPTY_VIEW, type ReaderView } from '../support/reader.ts';
import { artifactsOf, recordOf, viewOf } from '../support/task-view.ts';

/** The line as a stream writes it. */
function onTheWire(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u2028\u2029\u0085]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function assertSmall(events: readonly EventBody[]): void {
  for (const event of events) {
    const { length } = onTheWire(event);
    assert.ok(length <= LIMITS.frameChars, `a frame of ${length} characters`);
  }
}

function readerOf(events: readonly EventBody[]): ReaderView {
  return events.reduce(applyEvent, EMPTY_VIEW);
}

/** What makes cutting hard: escapes of six characters, pairs, halves of pairs, line separators. */
const unit = fc.constantFrom(
  'a',
  'é',
  '"',
  '\\',
  '\n',
  '\u0001',
  '\u007f',
  '\u0085',
  '\u2028',
  '\u2029',
  '😀',
  '👩‍👩‍👧',
);
const half = fc.constantFrom('\ud83d', '\ude00', '\ud83d\ud83d', 'a\ude00');
const hardText = fc
  .tuple(fc.array(fc.oneof({ weight: 6, arbitrary: unit }, half), { minLength: 1, maxLength: 40 }), fc.nat(40_000))
  .map(([units, times]) => units.join('').repeat(times % 2 === 0 ? 1 + Math.ceil(times / units.length) : 1));
const storableHardText = fc
  .tuple(fc.array(unit, { minLength: 1, maxLength: 20 }), fc.nat(60_000))
  .map(([units, length]) => units.join('').repeat(1 + Math.ceil(length / units.join('').length)));
const partOf = (text: fc.Arbitrary<string>): fc.Arbitrary<Part> =>
  fc.oneof(
    { weight: 4, arbitrary: text.map((value): Part => ({ text: value })) },
    text.map((value): Part => ({ text: value, mediaType: 'text/markdown' })),
    text.map((value): Part => ({ data: { value } })),
    fc.nat(90_000).map((length): Part => ({ raw: 'A'.repeat(length), filename: 'file.bin' })),
  );

describe('splitText', () => {
  it('gives the same text back, in pieces that keep the budget and cut no pair', () => {
    fc.assert(
      fc.property(hardText, fc.integer({ min: 12, max: 5_000 }), (text, budget) => {
        const pieces = splitText(text, budget);
        assert.equal(pieces.join(''), text);
        for (const piece of pieces) assert.ok(escapedLength(piece) - 2 <= budget);
        for (const [index, piece] of pieces.entries()) {
          if (index === 0) continue;
          const before = pieces[index - 1] ?? '';
          assert.doesNotMatch(before.slice(-1) + piece.slice(0, 1), /^[\ud800-\udbff][\udc00-\udfff]$/);
        }
      }),
    );
  });

  it('an empty text is one piece', () => assert.deepEqual(splitText('', 100), ['']));
});

describe('escapedLength', () => {
  it('is the length of the line', () => {
    fc.assert(fc.property(hardText, (text) => assert.equal(escapedLength({ text }), onTheWire({ text }).length)));
  });
});

describe('sliceParts', () => {
  it('any parts come out in frames that fit, with the same text for the reader and for the store', () => {
    fc.assert(
      fc.property(fc.array(partOf(hardText), { minLength: 1, maxLength: 5 }), fc.boolean(), (parts, joins) => {
        const slices = sliceParts(parts, 200, joins);
        const head = { artifactId: 'a', name: 'n'.repeat(150) };
        const texts = parts.filter(isText);
        assertSmall(artifactEvents({ taskId: 't', contextId: 'c', head, slices, append: false }));
        const stored = slices.flatMap((slice) => slice.stored);
        assert.equal(textOf(stored.map((piece) => piece.part)), textOf(texts));
        assert.equal(stored.filter((piece) => !piece.joined).length, parts.length - (joins ? 1 : 0));
        const untouched = parts.filter((part) => !isText(part));
        assert.deepEqual(
          stored.map((piece) => piece.part).filter((part) => !isText(part)),
          untouched,
          'what cannot be cut is stored whole',
        );
      }),
      { numRuns: 60 },
    );
  });

  it('a file that is too large is named on the stream, without half a character of its name', () => {
    const filename = `${'x'.repeat(199)}😀.pdf`;
    const [slice] = sliceParts([{ raw: 'A'.repeat(70_000), filename, mediaType: 'application/pdf' }], 0, false);
    const shown = textOf(slice?.shown ?? []);
    assert.match(shown, /^\[file x+… \(application\/pdf\) is too large for the stream; GetTask has it\]$/);
    assert.match(shown, /^\P{Surrogate}*$/u);
  });
});

describe('smallStatusUpdate', () => {
  const statusUpdate = (parts: readonly Part[]) => {
    const message: Message = { messageId: 'm', taskId: 't', contextId: 'c', role: 'ROLE_AGENT', parts };
    const status = { state: 'TASK_STATE_COMPLETED', timestamp: '2030-01-01T00:00:00.000Z', message } as const;
    return { taskId: 't', contextId: 'c', status };
  };
  const partsOf = (event: EventBody) =>
    'statusUpdate' in event ? (event.statusUpdate.status.message?.parts ?? []) : [];

  it('what is not measured fits a frame, too, with the widest characters, many parts and the longest ids', () => {
    const id = '\u0001'.repeat(256);
    for (const [count, size] of [
      ...[4_000, 4_900, 4_919, 4_920, 4_921, 5_000, 5_400, 9_000].map((length) => [1, length] as const),
      ...[10, 60, 61, 62, 63, 64, 200].map((parts) => [parts, 0] as const),
      ...[10, 30, 31, 40].map((parts) => [parts, 80] as const),
    ]) {
      const { status } = statusUpdate(Array.from({ length: count }, () => ({ text: '\u0001'.repeat(size) })));
      const message = { ...status.message, messageId: id, taskId: id, contextId: id } as Message;
      assertSmall([smallStatusUpdate({ taskId: id, contextId: id, status: { ...status, message } })]);
    }
  });

  it('a status text of 100 kB is cut with a mark', () => {
    for (const character of ['a', '\u0001', '😀', '\u2028']) {
      const text = character.repeat(100_000 / character.length);
      const event = smallStatusUpdate(statusUpdate([{ text }]));
      assertSmall([event]);
      const shown = textOf(partsOf(event));
      assert.match(shown, /GetTask has the whole text\)$/);
      assert.ok(text.startsWith(shown.slice(0, shown.indexOf('\n\n…'))));
      assert.ok(onTheWire(event).length > LIMITS.frameChars * 0.8, 'the frame is used');
    }
  });

  it('one that fits is left as it is', () => {
    const update = statusUpdate([{ text: 'x'.repeat(40_000) }, { data: null }]);
    assert.deepEqual(smallStatusUpdate(update), { statusUpdate: update });
  });

  it('any parts and the largest metadata fit', () => {
    const metadata = { note: 'x'.repeat(LIMITS.metadataChars - 20) };
    fc.assert(
      fc.property(fc.array(partOf(hardText), { minLength: 1, maxLength: 6 }), (parts) => {
        const event = smallStatusUpdate({ ...statusUpdate(parts), metadata });
        assertSmall([event]);
        assert.ok(partsOf(event).length > 0);
      }),
      { numRuns: 60 },
    );
  });

  it('whatever is left out leaves a mark', () => {
    const note = fc.nat(LIMITS.metadataChars * 6).map((length) => ({ note: 'x'.repeat(length) }));
    fc.assert(
      fc.property(fc.array(partOf(hardText), { maxLength: 6 }), note, (parts, metadata) => {
        const { status, ...update } = statusUpdate(parts);
        const event = smallStatusUpdate({ ...update, status, metadata });
        const shown = 'statusUpdate' in event ? event.statusUpdate : undefined;
        assert.deepEqual({ ...shown, status }, { ...update, status, metadata }, 'only the message is made smaller');
        const message = shown?.status.message;
        assert(message && (mayBeCut(message) || message === status.message));
      }),
      { numRuns: 200 },
    );
  });

  it('thousands of tiny parts fit, with ids as long as they may be', () => {
    const update = statusUpdate(Array.from({ length: 9_000 }, () => ({ url: '' })));
    const id = '"'.repeat(LIMITS.idBytes);
    assertSmall([smallStatusUpdate({ ...update, taskId: id, contextId: id })]);
  });
});

describe('smallMessage', () => {
  it('a reply of 200 kB fits one frame', () => {
    const message: Message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: '\u0001😀'.repeat(60_000) }] };
    assertSmall([{ message: smallMessage(message) }]);
  });
});

describe('decideArtifact', () => {
  /** The largest that an agent may say about an artifact and its part. */
  const largest = checkUpdate({
    artifact: {
      artifactId: 'a',
      name: '\u2028'.repeat(LIMITS.labelChars),
      description: '\u2028'.repeat(LIMITS.labelChars),
      metadata: { note: '\u2028'.repeat(2_000) },
      extensions: ['x'.repeat(1_900)],
      parts: [
        {
          text: '\u0001😀'.repeat(70_000),
          filename: '\u2028'.repeat(LIMITS.labelChars),
          mediaType: '\u2028'.repeat(LIMITS.labelChars),
          metadata: { note: '\u2028'.repeat(2_000) },
        },
      ],
    },
  });

  it('the largest labels, metadata and part details that an agent may send fit beside their text', () => {
    assert.equal(largest.kind, 'artifact');
    if (largest.kind !== 'artifact') return;
    const view = viewOf(recordOf('TASK_STATE_WORKING', { id: '"'.repeat(256), contextId: '"'.repeat(256) }), {
      artifacts: artifactsOf({}),
    });
    const command = { ...largest, first: true, joinsPrevious: false };
    const change = decideArtifact(view, { ordinal: 1, attempt: 1 }, command);
    assertSmall(change.events ?? []);
    const [artifact] = readerOf(change.events ?? []).artifacts;
    assert.equal(textOf(artifact?.parts ?? []), textOf(largest.artifact.parts));
    assert.equal(
      textOf((change.artifacts?.[0]?.parts ?? []).map((piece) => piece.part)),
      textOf(largest.artifact.parts),
    );
  });

  it('metadata counts as it goes out, not as it is in memory', () => {
    const parts = [{ text: 'x' }];
    const metadata = { note: '\u2028'.repeat(LIMITS.metadataChars / 2) };
    assert.throws(
      () => checkUpdate({ artifact: { artifactId: 'a', parts, metadata } }),
      /artifact metadata of more than/,
    );
  });
});

describe('snapshotFrames', () => {
  function taskOf(artifacts: readonly Artifact[], changes: Partial<Task> = {}): Task {
    const status = { state: 'TASK_STATE_WORKING', timestamp: '2030-01-01T00:00:00.000Z' } as const;
    const history: readonly Message[] = [{ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x'.repeat(100_000) }] }];
    return { id: 't', contextId: 'c', status, artifacts, history, ...changes };
  }
  const textsOf = (artifacts: readonly Artifact[]) =>
    artifacts.map(({ artifactId, name, parts }) => ({ artifactId, name, text: textOf(parts) }));

  it('artifacts that fit are in the Task, without history', () => {
    const artifacts: readonly Artifact[] = [{ artifactId: 'a', parts: [{ text: 'x' }] }];
    const { history: _, ...task } = taskOf(artifacts);
    assert.deepEqual(snapshotFrames(taskOf(artifacts)), [{ task }]);
    const { artifacts: __, ...bare } = task;
    assert.deepEqual(snapshotFrames(taskOf([])), [{ task: bare }]);
  });

  it('artifacts of 300 kB follow the Task: first as a whole, then appended', () => {
    const big: Artifact = { artifactId: 'big', name: 'Big', parts: [{ text: '\u0001\u2028😀é'.repeat(60_000) }] };
    const small: Artifact = { artifactId: 'small', parts: [{ text: 'before' }] };
    const late: Artifact = { artifactId: 'late', parts: [{ text: 'after' }] };
    const frames = snapshotFrames(taskOf([small, big, late]));
    assertSmall(frames);
    const updates = frames.slice(1).flatMap((frame) => ('artifactUpdate' in frame ? [frame.artifactUpdate] : []));
    assert.equal(updates.length, frames.length - 1);
    const seen = new Set<string>(['small']);
    for (const { artifact, append } of updates) {
      assert.equal(append ?? false, seen.has(artifact.artifactId), 'no append before its artifact');
      seen.add(artifact.artifactId);
    }
    assert.deepEqual(textsOf(readerOf(frames).artifacts), textsOf([small, big, late]));
  });

  it('metadata that many appends added up to more than a frame are left to GetTask', () => {
    const part = 'x'.repeat(LIMITS.metadataChars - 20);
    const metadata = { a: part, b: part, c: part, d: part, e: part };
    const artifacts = [{ artifactId: 'a', name: 'Brief', metadata, parts: [{ text: 'y'.repeat(70_000) }] }];
    const frames = snapshotFrames(taskOf(artifacts));
    assertSmall(frames);
    assert.deepEqual(textsOf(readerOf(frames).artifacts), textsOf(artifacts));
    assert.equal(readerOf(frames).artifacts[0]?.metadata, undefined);
  });

  it('any artifacts, with the largest status and metadata, fit and come out equal', () => {
    const artifact = fc.array(storableHardText, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(artifact, { maxLength: 6 }), storableHardText, (texts, statusText) => {
        const artifacts = texts.map((parts, index) => ({
          artifactId: `a${index}`,
          parts: parts.map((text) => ({ text })),
        }));
        const message: Message = { messageId: 's', role: 'ROLE_AGENT', parts: [{ text: statusText }] };
        const status = { state: 'TASK_STATE_WORKING', timestamp: '2030-01-01T00:00:00.000Z', message } as const;
        const metadata = { note: 'x'.repeat(LIMITS.metadataChars - 20) };
        const frames = snapshotFrames(taskOf(artifacts, { status, metadata }));
        assertSmall(frames);
        assert.ok('task' in (frames[0] ?? {}));
        assert.equal(frames.filter((frame) => 'task' in frame).length, 1);
        assert.deepEqual(textsOf(readerOf(frames).artifacts), textsOf(artifacts));
      }),
      { numRuns: 40 },
    );
  });
});
