import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ArtifactWrite, Fence, TaskView } from '../../core/ports/task-store.ts';
import type { Artifact } from '../../core/task.ts';
import { ALICE, accept, artifactWrite, claimOne, finish, LEASE_MS, say, write } from './scenario.ts';
import type { Subject, SubjectFactory } from './subject.ts';

async function artifactsOf({ store }: Subject, taskId = 't1'): Promise<readonly Artifact[] | undefined> {
  return (await store.read(ALICE, taskId, { artifacts: true }))?.task.artifacts;
}

function put({ store }: Subject, fence: Fence, artifact: Partial<ArtifactWrite>): Promise<unknown> {
  return store.update({ taskId: fence.taskId, fence }, () => ({
    artifacts: [{ ...artifactWrite(fence, { text: '' }), ...artifact }],
  }));
}

async function view({ store }: Subject, fence: Fence, ids: readonly string[]): Promise<TaskView> {
  let seen: TaskView | undefined;
  await store.update({ taskId: fence.taskId, fence, artifactIds: ids, lostArtifacts: true }, (found) => {
    seen = found;
    return undefined;
  });
  assert(seen);
  return seen;
}

/** The worker died: its lease runs out and another one takes the turn. */
function rerun(subject: Subject): Promise<{ readonly fence: Fence }> {
  subject.advance(LEASE_MS);
  return claimOne(subject, 'next-worker');
}

const texts = (artifacts: readonly Artifact[] | undefined) =>
  artifacts?.map(({ artifactId, parts }) => [artifactId, ...parts.map((part) => ('text' in part ? part.text : '?'))]);

export function artifactsContract(label: string, open: SubjectFactory): void {
  test(`${label} artifacts: joined chunks are read as one part, others as parts of their own`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const { fence } = await claimOne(subject);
    await put(subject, fence, { parts: [{ part: { text: 'Hel', mediaType: 'text/markdown' }, joined: false }] });
    await put(subject, fence, { parts: [{ part: { text: 'lo', mediaType: 'text/markdown' }, joined: true }] });
    await put(subject, fence, {
      parts: [
        { part: { text: ', world', mediaType: 'text/markdown' }, joined: true },
        { part: { data: { n: 1 } }, joined: false },
        { part: { text: 'next' }, joined: true },
      ],
    });
    assert.deepEqual(await artifactsOf(subject), [
      {
        artifactId: 'answer',
        parts: [{ text: 'Hello, world', mediaType: 'text/markdown' }, { data: { n: 1 } }, { text: 'next' }],
      },
    ]);
  });

  test(`${label} artifacts: read whole however large they are, labels and order among it`, async (t) => {
    const subject = await open(t);
    for (const [id, size] of [
      ['small', 10],
      ['large', 50_000],
    ] as const) {
      await accept(subject, { id });
      const { fence } = await claimOne(subject);
      const text = '"é\\ '.repeat(size / 5);
      await put(subject, fence, {
        artifactId: 'z',
        parts: [{ part: { text }, joined: false }],
        extensions: ['urn:"x"'],
      });
      await put(subject, fence, {
        ...{ artifactId: 'a "quoted" [id]', name: 'na\\me, "é"', description: '', metadata: { n: [1, null, '"'] } },
        parts: [
          { part: { text }, joined: false },
          { part: { text: '|' }, joined: true },
          { part: { data: { joined: 1 } }, joined: false },
        ],
      });
      await put(subject, fence, { artifactId: 'none', parts: [] });
      assert.deepEqual(await artifactsOf(subject, id), [
        { artifactId: 'z', parts: [{ text }], extensions: ['urn:"x"'] },
        {
          ...{ artifactId: 'a "quoted" [id]', name: 'na\\me, "é"', description: '', metadata: { n: [1, null, '"'] } },
          parts: [{ text: `${text}|` }, { data: { joined: 1 } }],
        },
        { artifactId: 'none', parts: [] },
      ]);
    }
  });

  test(`${label} artifacts: in the order of their first chunk, whatever is written later`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const { fence } = await claimOne(subject);
    for (const artifactId of ['z', 'a', 'm']) await write(subject, fence, { artifactId, text: artifactId });
    await write(subject, fence, { artifactId: 'z', text: 'Z', mode: 'replace' });
    await write(subject, fence, { artifactId: 'a', text: '+' });
    assert.deepEqual(texts(await artifactsOf(subject)), [
      ['z', 'Z'],
      ['a', 'a', '+'],
      ['m', 'm'],
    ]);
  });

  test(`${label} artifacts: an append keeps the labels it does not name, a replace starts anew`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const { fence } = await claimOne(subject);
    await put(subject, fence, {
      name: 'brief.md',
      description: 'about',
      metadata: { a: 1, b: 1 },
      extensions: ['https://example.com/x'],
    });
    await put(subject, fence, { metadata: { b: 2 }, description: 'more' });
    const [appended] = (await artifactsOf(subject)) ?? [];
    assert.deepEqual(appended, {
      artifactId: 'answer',
      name: 'brief.md',
      description: 'more',
      parts: [{ text: '' }, { text: '' }],
      metadata: { a: 1, b: 2 },
      extensions: ['https://example.com/x'],
    });
    await put(subject, fence, { mode: 'replace', name: 'other.md' });
    assert.deepEqual(await artifactsOf(subject), [{ artifactId: 'answer', name: 'other.md', parts: [{ text: '' }] }]);
  });

  test(`${label} artifacts: a first attempt has lost nothing`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const { fence } = await claimOne(subject);
    await write(subject, fence, { text: 'mine' });
    const seen = await view(subject, fence, ['answer', 'unknown']);
    assert.deepEqual([...seen.artifacts], [['answer', { lost: false, kept: [] }]]);
    assert.equal(seen.lost.size, 0);
  });

  test(`${label} artifacts: a rerun sees what the lost attempt wrote, and its first chunk takes the place of it`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const lost = await claimOne(subject);
    await write(subject, lost.fence, { text: 'half an ans' });
    await write(subject, lost.fence, { artifactId: 'scratch', text: 'only then' });
    const { fence } = await rerun(subject);
    const before = await view(subject, fence, ['answer']);
    assert.deepEqual([...before.artifacts], [['answer', { lost: true, kept: [] }]]);
    assert.deepEqual([...before.lost.keys()], ['answer', 'scratch']);
    await write(subject, fence, { text: 'a whole', mode: 'replace-lost' });
    await write(subject, fence, { text: ' answer', joined: true });
    const after = await view(subject, fence, ['answer']);
    assert.deepEqual([...after.artifacts], [['answer', { lost: false, kept: [] }]]);
    assert.deepEqual([...after.lost.keys()], ['scratch']);
    await write(subject, fence, { artifactId: 'scratch', text: '', mode: 'drop-lost' });
    assert.deepEqual(texts(await artifactsOf(subject)), [['answer', 'a whole answer']]);
    assert.equal((await view(subject, fence, [])).lost.size, 0);
  });

  test(`${label} artifacts: what other turns wrote is kept when a lost attempt's parts go`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const first = await claimOne(subject);
    await write(subject, first.fence, { text: 'turn ' });
    await write(subject, first.fence, { text: 'one', joined: true });
    await subject.store.update({ taskId: 't1' }, () => ({ executions: [{ close: 1, outcome: 'done' }] }));
    await say(subject, 't1', 'two');
    const lost = await claimOne(subject);
    await write(subject, lost.fence, { text: 'lost' });
    const { fence } = await rerun(subject);
    const kept = { lost: true, kept: [{ text: 'turn one' }] };
    assert.deepEqual([...(await view(subject, fence, ['answer'])).artifacts], [['answer', kept]]);
    assert.deepEqual([...(await view(subject, fence, [])).lost], [['answer', kept]]);
    await write(subject, fence, { text: '', mode: 'drop-lost' });
    assert.deepEqual(texts(await artifactsOf(subject)), [['answer', 'turn one']]);
  });

  test(`${label} artifacts: what is kept is seen with the labels that stay on it, also those of the lost attempt`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const first = await claimOne(subject);
    await put(subject, first.fence, { name: 'one.md', metadata: { turn: 1 } });
    await subject.store.update({ taskId: 't1' }, () => ({ executions: [{ close: 1, outcome: 'done' }] }));
    await say(subject, 't1', 'two');
    const lost = await claimOne(subject);
    await put(subject, lost.fence, { metadata: { attempt: 1 } });
    await put(subject, lost.fence, { artifactId: 'alone', name: 'lost.md' });
    const { fence } = await rerun(subject);
    const labels = { name: 'one.md', metadata: { turn: 1, attempt: 1 } };
    const seen = await view(subject, fence, ['answer', 'alone']);
    const expected = new Map([
      ['answer', { lost: true, kept: [{ text: '' }], labels }],
      ['alone', { lost: true, kept: [] }],
    ]);
    assert.deepEqual(seen.artifacts, expected);
    assert.deepEqual(seen.lost, expected);
    await put(subject, fence, { mode: 'replace-lost', metadata: { attempt: 2 } });
    const [answer] = (await artifactsOf(subject)) ?? [];
    assert.deepEqual([answer?.name, answer?.metadata], ['one.md', { turn: 1, attempt: 2 }]);
  });

  test(`${label} artifacts: replace-lost with nothing of other turns forgets the lost attempt's labels`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const lost = await claimOne(subject);
    await put(subject, lost.fence, { name: 'wrong.md', metadata: { wrong: true } });
    const { fence } = await rerun(subject);
    await put(subject, fence, { mode: 'replace-lost', name: 'right.md' });
    assert.deepEqual(await artifactsOf(subject), [{ artifactId: 'answer', name: 'right.md', parts: [{ text: '' }] }]);
  });

  test(`${label} artifacts: dropping what was never written changes nothing`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const { fence } = await claimOne(subject);
    await write(subject, fence, { artifactId: 'unknown', text: '', mode: 'drop-lost' });
    await write(subject, fence, { text: 'stays' });
    await write(subject, fence, { text: '', mode: 'drop-lost' });
    assert.deepEqual(texts(await artifactsOf(subject)), [['answer', 'stays']]);
  });

  test(`${label} artifacts: an unfenced writer sees them and loses none`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const { fence } = await claimOne(subject);
    await write(subject, fence, { text: 'partial' });
    await rerun(subject);
    await subject.store.update({ taskId: 't1', artifactIds: ['answer'], lostArtifacts: true }, (seen) => {
      assert.deepEqual([...seen.artifacts], [['answer', { lost: false, kept: [] }]]);
      assert.equal(seen.lost.size, 0);
      return finish(seen, 'TASK_STATE_CANCELED');
    });
    assert.deepEqual(texts(await artifactsOf(subject)), [['answer', 'partial']]);
  });

  test(`${label} artifacts: the key is absent unless they are asked for`, async (t) => {
    const subject = await open(t);
    await accept(subject, { id: 't1' });
    const without = await subject.store.read(ALICE, 't1', { artifacts: false, historyLength: 0 });
    assert.deepEqual(Object.keys(without?.task ?? {}).sort(), ['contextId', 'id', 'status']);
    assert.deepEqual(await artifactsOf(subject), []);
  });
}
