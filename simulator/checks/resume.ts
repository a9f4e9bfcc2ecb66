import { randomUUID } from 'node:crypto';
import { artifactText, isTerminal } from '../client/a2a.ts';
import * as adf from '../site/adf.ts';
import { type Bench, type Check, must, mustBeClean, mustWork, skip } from './check.ts';

/** As many cuts at most, spread over the stream. */
const MAX_CUTS = 12;
/** Long enough to come in several pieces. */
const LONG_TEXT = adf.doc(
  ...Array.from({ length: 40 }, (_, index) =>
    adf.paragraph(`Paragraph ${index + 1}. ${'All work and no play. '.repeat(20)}`),
  ),
);

/** A stream killed after so many events and resumed: both ends of it and what GetTask says. */
async function cutAndResume({ client, slowItem }: Bench, cutAfterFrames: number) {
  const first = await client.assign(slowItem(300, { description: LONG_TEXT }).key).stream({ cutAfterFrames });
  const { id } = mustWork(first, 'first stream');
  mustBeClean(first.faults, 'first stream');
  const resumed = await client.subscribe(id);
  must(resumed.streamed, `SubscribeToTask: ${resumed.error?.message ?? resumed.text.slice(0, 80)}`);
  mustBeClean(resumed.faults, 'resumed stream');
  const { task } = await client.get(id);
  must(
    isTerminal(mustWork({ ...(task && { task }) }, 'after the stream').status.state),
    `after the stream: ${task?.status.state}`,
  );
  return { first, resumed, stored: artifactText(task) };
}

export const RESUME_CHECKS: readonly Check[] = [
  {
    id: 'resume.cut',
    rule: 'A stream cut anywhere is resumed without a missing or doubled piece',
    async run(bench) {
      const whole = await bench.client.assign(bench.item({ description: LONG_TEXT }).key).stream();
      must(whole.streamed, `no stream: ${whole.error?.message ?? whole.text.slice(0, 80)}`);
      const { state } = mustWork(whole, 'a whole stream').status;
      must(isTerminal(state), `a whole stream: ${state}`);
      const events = whole.frames.length;
      const step = Math.max(1, Math.ceil((events - 1) / MAX_CUTS));
      const cuts = Array.from({ length: Math.floor((events - 1) / step) }, (_, index) => 1 + index * step);
      let inside = 0;
      const results = await Promise.all(cuts.map(async (cut) => ({ cut, ...(await cutAndResume(bench, cut)) })));
      for (const { cut, first, resumed, stored } of results) {
        const before = artifactText(first.task);
        const after = artifactText(resumed.task);
        must(
          after === stored,
          `cut after ${cut}: the resumed text has ${after.length} characters, the stored one ${stored.length}`,
        );
        must(stored.startsWith(before), `cut after ${cut}: what was streamed first is no beginning of the whole`);
        if (first.end === 'cut' && before !== '' && before !== stored) inside += 1;
      }
      if (inside === 0) skip(`${cuts.length} cuts in ${events} events, none of them inside an artifact`);
      return `${cuts.length} cuts in ${events} events, ${inside} inside the artifacts, all texts equal`;
    },
  },
  {
    id: 'resume.two-readers',
    rule: 'One reader that leaves does not disturb the other',
    async run({ client, slowItem }) {
      const first = await client.assign(slowItem(400).key).stream({ cutAfterFrames: 1 });
      const { id } = mustWork(first, 'first stream');
      const [stays, leaves] = await Promise.all([client.subscribe(id), client.subscribe(id, { cutAfterFrames: 1 })]);
      mustBeClean([...stays.faults, ...leaves.faults], 'streams');
      must(leaves.end === 'cut', `the one that leaves was ended by: ${leaves.end}`);
      const { state } = mustWork(stays, 'the other').status;
      must(isTerminal(state), `the other ended in ${state}`);
      return `the other read ${stays.frames.length} events to the end`;
    },
  },
  {
    id: 'resume.finished',
    rule: 'SubscribeToTask of a finished task is its one task event, then the end',
    async run({ client, item }) {
      const done = await client.assign(item().key).run();
      const { id, status } = mustWork(done, 'assignment');
      if (!isTerminal(status.state)) skip(`the task is ${status.state}`);
      const stream = await client.subscribe(id);
      must(stream.streamed, `no stream: ${stream.error?.code ?? stream.text.slice(0, 60)}`);
      mustBeClean(stream.faults, 'stream');
      const kinds = stream.frames.map(({ frame }) => Object.keys(frame)[0]);
      must(kinds[0] === 'task' && kinds.slice(1).every((kind) => kind === 'artifactUpdate'), kinds.join(', '));
      must(stream.end === 'agent', `ended by: ${stream.end}`);
      must(artifactText(stream.task) === artifactText(done.task), 'the artifacts differ from those of GetTask');
      return kinds.join(', ');
    },
  },
  {
    id: 'resume.unknown',
    rule: 'SubscribeToTask of an unknown task is -32001 as plain JSON',
    async run({ client }) {
      const stream = await client.subscribe(randomUUID());
      must(!stream.streamed && stream.error?.code === -32001, `${stream.error?.code}, streamed: ${stream.streamed}`);
      mustBeClean(stream.faults, 'answer');
      return '-32001';
    },
  },
];
