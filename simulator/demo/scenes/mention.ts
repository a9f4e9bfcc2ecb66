import { artifactText } from '../../client/a2a.ts';
import type { StreamOptions, StreamResult } from '../../client/streams.ts';
import { during, need, type Scene, type Stage, showEnd, stateOf } from '../stage.ts';
import { until } from '../until.ts';

const KEY = 'SHOP-5';

/** Prints each piece of text as it comes. */
function narratePieces({ show }: Stage): NonNullable<StreamOptions['onFrame']> {
  return ({ task, artifactUpdate }) => {
    const text = (artifactUpdate?.artifact ?? task?.artifacts?.[0])?.parts.map((part) => part.text ?? '').join('');
    if (!text) return;
    const kind = task ? 'so far' : 'then';
    show.does('Agent', `${kind} ${String(text.length).padStart(4)} characters  ${text.trim().split('\n')[0] ?? ''}`);
  };
}

const ids = (stream: StreamResult): readonly number[] =>
  stream.frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));

const rises = (numbers: readonly number[]): boolean =>
  numbers.every((number, index) => index === 0 || number === (numbers[index - 1] ?? 0) + 1);

export const MENTION: Scene = {
  title: 'A mention, streamed, cut in the middle and resumed',
  async play(stage) {
    const { jira, site, show, claim } = stage;
    const { traffic } = site;
    show.does('Bob', `comments on ${KEY}: "@Agent how does this stand?"`);
    // The gates make the agent wait at each of its requests: a new one on the same key lets the one before go.
    const reading = traffic.gate(KEY);
    const connection = new AbortController();
    let pieces = 0;
    const narratePiece = narratePieces(stage);
    const streaming = jira.mention(KEY, 'how does this stand?', { as: 'bob' }).stream({
      signal: connection.signal,
      onFrame(frame, task) {
        if (frame.artifactUpdate) pieces += 1;
        narratePiece(frame, task);
      },
    });
    await during(streaming, reading.reached());
    const relating = traffic.gate(KEY);
    await during(
      streaming,
      until(() => pieces > 0, { what: 'the first piece of the brief' }),
    );
    await during(streaming, relating.reached());
    connection.abort();
    const first = await streaming;
    const { id } = need(first.task, 'task event');
    show.does('Network', `the connection dies after ${first.frames.length} events`);
    const commenting = traffic.gate(KEY);
    await commenting.reached();
    show.note('The agent goes on writing, and nobody listens.');
    show.does('Jira', 'connects again: SubscribeToTask');
    let events = 0;
    const resuming = jira.subscribe(id, {
      as: 'bob',
      onFrame(frame, task) {
        events += 1;
        narratePiece(frame, task);
      },
    });
    await during(
      resuming,
      until(() => events > 0, { what: 'the first event of the resumed stream' }),
    );
    commenting.open();
    const resumed = await resuming;
    showEnd(stage, resumed.task, 3);
    const stored = await jira.get(id, { as: 'bob' });
    const [before, after, whole] = [first.task, resumed.task, stored.task].map((task) => artifactText(task));
    claim(
      resumed.end === 'agent' && stateOf(resumed.task) === 'COMPLETED',
      'the resumed stream ended by itself with the task',
      stateOf(resumed.task),
    );
    claim(
      before !== '' && before !== whole && whole?.startsWith(before ?? '') === true,
      `the cut was in the middle: ${before?.length} of ${whole?.length} characters were there`,
    );
    claim(
      after === whole,
      'what the resumed stream adds up to is what GetTask holds, no piece missing or doubled',
      `${after?.length} against ${whole?.length} characters`,
    );
    claim(
      rises(ids(first)) && rises(ids(resumed)) && (ids(resumed)[0] ?? 0) > (ids(first).at(-1) ?? 0),
      `event ids go on without a gap: ${ids(first)[0]} to ${ids(first).at(-1)}, then a snapshot at ${ids(resumed)[0]} and on to ${ids(resumed).at(-1)}`,
      `${ids(first)} | ${ids(resumed)}`,
    );
    if (stored.task) stage.ended.push({ as: 'bob', task: stored.task });
  },
};
