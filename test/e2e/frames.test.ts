import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { artifactText, statusText } from '../../simulator/client/a2a.ts';
import type { StreamResult } from '../../simulator/client/streams.ts';
import { JIRA_LIMITS } from '../../simulator/limits.ts';
import { chunksOf, textOf } from './agents/texts.ts';
import { bothEdges, type Caller } from './callers.ts';
import { legacyMessage, plainPost } from './plain-calls.ts';
import { startWorld, type World } from './world.ts';

let world: World;
let callers: readonly Caller[];
before(async () => {
  world = await startWorld({ agent: 'rerun' });
  callers = await bothEdges(world);
});
after(() => world.close());

/** The strict reader has found nothing: no line was dropped for its length, none was cut in two, every field is known. */
function assertWhole(stream: StreamResult, text: string): void {
  assert.deepEqual(stream.faults, []);
  assert.equal(stream.end, 'agent');
  assert.equal(artifactText(stream.task), text);
  const longest = Math.max(...stream.frames.map(({ chars }) => chars));
  assert.ok(longest + 'data: '.length <= JIRA_LIMITS.maxLineChars, `${longest} characters`);
}

for (const [index, edge] of ['/rovo/a2a', '/a2a'].entries()) {
  const caller = (): Caller => {
    const found = callers[index];
    assert.equal(found?.edge, edge);
    return found as Caller;
  };

  describe(`frames on ${edge}`, () => {
    test(`${edge}: an artifact of 200 kB of control characters and emoji comes in frames that fit, and equal`, async () => {
      const text = textOf('nasty', 200_000);
      const stream = await caller().stream(['artifact big nasty 200000', 'complete Done.']);
      assertWhole(stream, text);
      assert.ok(stream.frames.length > 4, `${stream.frames.length} frames`);
      const { task } = await caller().client.get(String(stream.task?.id));
      assert.equal(artifactText(task), text);
      assert.equal(task?.artifacts?.length, 1);
    });

    test(`${edge}: a status text of 100 kB is cut with a mark on the stream and whole in GetTask`, async () => {
      const text = textOf('nasty', 100_000);
      const stream = await caller().stream(['conclude nasty 100000']);
      assertWhole(stream, '');
      assert.equal(stream.task?.status.state, 'TASK_STATE_COMPLETED');
      const shown = statusText(stream.task);
      assert.ok(shown.length > 5_000 && shown.length < text.length, `${shown.length} characters`);
      assert.ok(text.startsWith(shown.slice(0, 5_000)));
      const got = await caller().client.get(String(stream.task?.id));
      assert.deepEqual(got.faults, []);
      assert.equal(statusText(got.task), text);
    });

    test(`${edge}: a subscription to a task with 300 kB of artifacts has all of them in frames that fit`, async () => {
      const place = world.outside.place({ closed: true });
      const taskId = await caller().start([
        'artifact first nasty 150000',
        'artifact second plain 150000',
        `call ${place.name}`,
        'chunks third 50 20',
        'complete Done.',
      ]);
      await place.reached();
      const kept = textOf('nasty', 150_000) + textOf('plain', 150_000);
      const stream = await caller().subscribe(taskId, {
        onFrame: (_, task) => {
          if (artifactText(task) === kept) place.open();
        },
      });
      assertWhole(stream, kept + chunksOf(50, 20));
      assert.equal(stream.frames.filter(({ frame }) => frame.task).length, 1);
      const { task } = await caller().client.get(taskId);
      assert.deepEqual(task?.artifacts, stream.task?.artifacts?.map(joined));
    });

    test(`${edge}: line separators are escaped in the line and equal after decoding`, async () => {
      const text = 'a\u2028b\u2029c\u0085d\re\nf\r\ng';
      const stream = await caller().stream([`write odd ${JSON.stringify(text)}`, 'complete Done.']);
      assertWhole(stream, text);
    });

    test(`${edge}: an artifact and a status of 3,000 tiny parts come in frames that fit`, async () => {
      const stream = await caller().stream(['crumbs 3000']);
      assertWhole(stream, '');
      assert.equal(stream.task?.artifacts?.[0]?.parts.length, 3_000);
      assert.match(statusText(stream.task), /GetTask has the whole/, 'a status that was cut says so');
    });

    test(`${edge}: 3,000 chunks come in order, once each, and the artifact is one [4.1.7-unique]`, async () => {
      const stream = await caller().stream(['chunks log 3000 100', 'complete Done.']);
      assertWhole(stream, chunksOf(3_000, 100));
      const ids = stream.frames.map(({ id }) => Number(id));
      assert.deepEqual(
        ids,
        ids.map((_, at) => at + 1),
        'the numbers of the task’s events, without a gap',
      );
      assert.equal(artifactText((await caller().client.get(String(stream.task?.id))).task), chunksOf(3_000, 100));
    });
  });
}

/** A stream gives a long text in several parts, GetTask in one. */
function joined<T extends { readonly parts: readonly { readonly text?: string }[] }>(artifact: T): T {
  return { ...artifact, parts: [{ text: artifact.parts.map(({ text }) => text).join('') }] };
}

test('/rovo/a2a: a subscription to a finished task has all of its 300 kB, and ends', async () => {
  const [jira] = callers;
  const sent = await jira?.send(['artifact big nasty 300000', 'complete Done.']);
  const stream = await jira?.subscribe(String(sent?.task?.id));
  assertWhole(stream as StreamResult, textOf('nasty', 300_000));
});

test('/a2a as 0.3, whose parts are longer: 3,000 tiny ones and 200 kB of text come in frames that fit', async () => {
  const url = `${world.service().origin}/a2a`;
  for (const line of ['crumbs 3000', 'artifact big nasty 200000\ncomplete Done.', 'conclude nasty 100000']) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/stream', params: legacyMessage(line) });
    const headers = { authorization: `Bearer ${await world.issuer.token('alice')}`, accept: 'text/event-stream' };
    const { text } = await plainPost(url, body, headers);
    const lines = text.split('\n');
    assert.doesNotMatch(text, /"error"/, line);
    assert.ok(Math.max(...lines.map(({ length }) => length)) <= JIRA_LIMITS.maxLineChars, line);
    assert.match(lines.filter((one) => one.startsWith('data:')).at(-1) ?? '', /"state":"completed"/);
  }
});
