import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { escapedLength } from '../../core/escaped-text.ts';
import { LIMITS } from '../../core/limits.ts';
import { textOf } from '../../core/message.ts';
import type { Frame } from '../../core/operations/operations.ts';
import type { Artifact } from '../../core/task.ts';
import { collect, createClient, ROVO, statesOf } from '../support/client.ts';
import { applyEvent, EMPTY_VIEW, type ReaderView } from '../support/reader.ts';
import { createCore } from '../support/service.ts';
import { until } from '../support/until.ts';

function readerOf(frames: readonly Frame[]): ReaderView {
  return frames.reduce((view, frame) => applyEvent(view, frame.body), EMPTY_VIEW);
}

function assertSmall(frames: readonly Frame[]): void {
  for (const { body } of frames) assert.ok(escapedLength(body) <= LIMITS.frameChars);
}

/** A megabyte of difference is no message. */
function assertSame(actual: string, expected: string): void {
  assert.ok(actual === expected, `${actual.length} characters that are not the ${expected.length} expected`);
}

function taskIdOf(frames: readonly Frame[]): string {
  const body = frames[0]?.body;
  return body && 'task' in body ? body.task.id : '';
}

describe('5,000 chunks of 200 bytes', () => {
  it('become few events and the exact text, on the stream and in the store', async (t) => {
    const chunks = Array.from({ length: 5_000 }, (_, index) => `${`${index} `.padEnd(198, 'é')}😀`);
    const core = await createCore(t, {
      agent: async function* () {
        for (const text of chunks) yield { artifact: { artifactId: 'a', parts: [{ text }] }, append: true };
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core, { profile: ROVO });
    const frames = await collect(await client.stream('go'));
    assert.ok(frames.length < 100, `${frames.length} frames`);
    assertSmall(frames);
    const text = chunks.join('');
    assertSame(textOf(readerOf(frames).artifacts[0]?.parts ?? []), text);
    const { artifacts = [] } = await client.get(taskIdOf(frames));
    assert.equal(artifacts.length, 1);
    assert.equal(artifacts[0]?.parts.length, 1, 'one part');
    assertSame(textOf(artifacts[0]?.parts ?? []), text);
  });
});

describe('an artifact and COMPLETED in the same moment', () => {
  it('come in this order on every stream and replay, 200 times', async (t) => {
    const core = await createCore(t, {
      concurrency: 20,
      agent: async function* () {
        yield { artifact: { artifactId: 'a', parts: [{ text: 'the answer' }] }, lastChunk: true };
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const client = createClient(core, { profile: ROVO });
    const all = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => collect(await client.stream(`run ${index}`))),
    );
    for (const frames of all) {
      assert.deepEqual(statesOf(frames), ['Task SUBMITTED', 'WORKING', 'artifact', 'COMPLETED']);
      const replay = await core.store.events(client.caller.owner, taskIdOf(frames), 0, 10);
      assert.deepEqual(
        frames,
        replay.map(({ sequence, body }) => ({ sequence, body })),
      );
    }
  });
});

describe('large texts', () => {
  const character = '\u0001😀\u2028é';
  const artifactText = character.repeat(20_000);
  const statusText = character.repeat(10_000);

  it('200 kB in an artifact and 100 kB in the status: every frame fits, the artifact comes out equal', async (t) => {
    const core = await createCore(t, {
      agent: async function* () {
        yield { artifact: { artifactId: 'a', parts: [{ text: artifactText }] } };
        yield { state: 'TASK_STATE_COMPLETED', message: statusText };
      },
    });
    const client = createClient(core, { profile: ROVO });
    const frames = await collect(await client.stream('go'));
    assertSmall(frames);
    const seen = readerOf(frames);
    assertSame(textOf(seen.artifacts[0]?.parts ?? []), artifactText);
    assert.match(textOf(seen.status?.message?.parts ?? []), /GetTask has the whole text\)$/);
    const task = await client.get(taskIdOf(frames));
    assertSame(textOf(task.artifacts?.[0]?.parts ?? []), artifactText);
    assertSame(textOf(task.status.message?.parts ?? []), statusText);
  });

  it('300 kB in artifacts of a running task: a new reader has them at once and only the last frame is numbered', async (t) => {
    const core = await createCore(t, {
      agent: async function* ({ signal }) {
        for (const artifactId of ['a', 'b', 'c']) {
          yield { artifact: { artifactId, parts: [{ text: artifactText.slice(0, 100_000) }] }, lastChunk: true };
        }
        yield { state: 'TASK_STATE_WORKING', message: statusText };
        await until('the abort', () => signal.aborted);
      },
    });
    const client = createClient(core, { profile: ROVO });
    const { id } = await client.start('go');
    await until('all is there', async () => (await client.get(id)).status.message !== undefined);
    const leaving = new AbortController();
    const snapshot: Frame[] = [];
    for await (const frame of await client.subscribe(id, { signal: leaving.signal })) {
      snapshot.push(frame);
      if (frame.sequence !== undefined) leaving.abort();
    }
    assertSmall(snapshot);
    assert.ok(snapshot.length > 6);
    const seen = readerOf(snapshot);
    const task = await client.get(id);
    const texts = (artifacts: readonly Artifact[] = []) =>
      JSON.stringify(artifacts.map((artifact) => [artifact.artifactId, textOf(artifact.parts)]));
    assertSame(texts(seen.artifacts), texts(task.artifacts));
    await client.cancel(id);
  });
});
