import { artifactText, isTerminal, statusText } from '../client/a2a.ts';
import type { StreamResult } from '../client/streams.ts';
import { JIRA_LIMITS } from '../limits.ts';
import * as adf from '../site/adf.ts';
import { type Check, must, mustBeClean, mustWork, skip } from './check.ts';

function mustHaveEnded(stream: StreamResult): void {
  must(stream.streamed, `no stream: ${stream.error?.message ?? stream.text.slice(0, 80)}`);
  mustBeClean(stream.faults, 'stream');
  must(stream.end === 'agent', `the stream was ended by: ${stream.end}`);
  const { state } = mustWork(stream, 'stream').status;
  must(isTerminal(state), `it ended in ${state}`);
}

const longest = (stream: StreamResult): number => stream.frames.reduce((most, { chars }) => Math.max(most, chars), 0);
/** A timer under load and the way through the network, beside what was promised. */
const HEARTBEAT_SLACK = 1.1;
/** Escapes to six characters each in JSON: 60 kB of these are 360,000 characters on the wire. */
const NASTY = '\u0001\u0002\ud83c\udfee"\\\u2028'.repeat(8_000);

export const STREAM_CHECKS: readonly Check[] = [
  {
    id: 'stream.order',
    rule: 'A stream is one task event, then updates, and ends by itself with the task',
    async run({ client, item }) {
      const stream = await client.assign(item().key).stream();
      mustHaveEnded(stream);
      const tasks = stream.frames.filter(({ frame }) => frame.task).length;
      must(tasks === 1 && stream.frames[0]?.frame.task !== undefined, `${tasks} task events`);
      return `${stream.frames.length} events, ${stream.states.map((state) => state.slice('TASK_STATE_'.length)).join(' > ')}`;
    },
  },
  {
    id: 'stream.headers',
    rule: 'text/event-stream, not compressed, not buffered by proxies',
    async run({ client, item }) {
      const stream = await client.assign(item().key).stream();
      mustHaveEnded(stream);
      const { headers } = stream;
      must(String(headers['content-type']).startsWith('text/event-stream'), String(headers['content-type']));
      must(headers['content-encoding'] === undefined, String(headers['content-encoding']));
      must(headers['x-accel-buffering'] === 'no', `X-Accel-Buffering: ${headers['x-accel-buffering']}`);
      return 'X-Accel-Buffering: no';
    },
  },
  {
    id: 'stream.line-limit',
    rule: 'No line is over 65,535 characters',
    async run({ client, item }) {
      const text = adf.doc(adf.paragraph(NASTY), adf.codeBlock('text', NASTY));
      const stream = await client.mention(item({ description: text }).key, 'quote the description').stream();
      mustHaveEnded(stream);
      return `longest data line ${longest(stream)} characters`;
    },
  },
  {
    id: 'stream.separators',
    rule: 'U+2028, U+2029 and U+0085 are never raw in a line',
    async run({ client, item }) {
      const odd = 'one\u2028two\u2029three\u0085four';
      const made = item({ summary: odd, description: adf.doc(adf.paragraph(odd)) });
      const stream = await client.mention(made.key, odd).stream();
      mustHaveEnded(stream);
      const shown = /[\u2028\u2029\u0085]/.test(artifactText(stream.task) + statusText(stream.task));
      return shown ? 'escaped, and there after decoding' : 'not in what the agent wrote';
    },
  },
  {
    id: 'stream.heartbeat',
    rule: 'A byte comes at least every 15 s, also before the first event',
    slow: true,
    async run({ client, slowItem, atlassian, heartbeatMs }) {
      const quietMs = heartbeatMs * 1.4;
      if (atlassian.timeScale.deadline(JIRA_LIMITS.streamMs) < quietMs) {
        skip('streams are shorter than a heartbeat at this time scale');
      }
      const stream = await client.assign(slowItem(quietMs).key).stream();
      must(stream.streamed, `no stream: ${stream.error?.message ?? stream.text.slice(0, 80)}`);
      mustWork(stream, 'stream');
      if (stream.elapsedMs < heartbeatMs) skip(`over after ${Math.round(stream.elapsedMs)} ms`);
      const seconds = (stream.maxSilenceMs / 1000).toFixed(1);
      must(stream.maxSilenceMs <= heartbeatMs * HEARTBEAT_SLACK, `silent for ${seconds} s`);
      return `longest silence ${seconds} s, ${stream.comments} comments`;
    },
  },
  {
    id: 'stream.left',
    rule: 'A client that leaves after the first event loses nothing: the task completes',
    async run({ client, slowItem }) {
      const stream = await client.assign(slowItem(500).key).stream({ cutAfterFrames: 1 });
      const { id } = mustWork(stream, 'stream');
      const done = await client.poll(id);
      must(done.task?.status.state === 'TASK_STATE_COMPLETED', `${done.task?.status.state ?? done.outcome}`);
      return `COMPLETED, ${artifactText(done.task).length} characters of artifacts`;
    },
  },
  {
    id: 'stream.limit',
    rule: 'A stream is ended by the agent before 900 s, the task goes on',
    async run({ client, slowItem, atlassian }) {
      const limitMs = atlassian.timeScale.deadline(JIRA_LIMITS.streamMs);
      if (limitMs > 60_000)
        skip(`takes ${Math.round(limitMs / 60_000)} min: use --time-scale 15 or more on both sides`);
      const invocation = client.assign(slowItem(limitMs * 1.15).key);
      const followed = await invocation.follow();
      const [first] = followed.streams;
      mustWork(followed, 'streams');
      if (first?.task && isTerminal(first.task.status.state)) skip(`over after ${Math.round(first.elapsedMs)} ms`);
      must(first?.end === 'agent', `Jira's limit of ${Math.round(limitMs)} ms was reached`);
      mustBeClean(followed.faults, 'streams');
      must(followed.task?.status.state === 'TASK_STATE_COMPLETED', `in the end: ${followed.task?.status.state}`);
      return `ended after ${Math.round(first.elapsedMs)} ms, ${followed.streams.length - 1} resubscriptions, COMPLETED`;
    },
  },
];
