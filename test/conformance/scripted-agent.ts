import { setTimeout as sleep } from 'node:timers/promises';
import type { Part } from '../../core/message.ts';
import type { Agent, Turn, Update } from '../../core/ports/agent.ts';

/*
 * The agent that conformance suites talk to: what it does is chosen by the prefix of the message id, as the A2A TCK
 * does it. Loaded into the shipped service with AGENT=module:./dist/test/conformance/scripted-agent.js.
 */

type Script = (turn: Turn) => AsyncGenerator<Update>;

const COMPLETED = 'TASK_STATE_COMPLETED' as const;
const WORKING = 'TASK_STATE_WORKING' as const;

function withArtifact(part: Part): Script {
  return async function* () {
    yield { artifact: { artifactId: 'result', name: 'Result', parts: [part] }, lastChunk: true };
    yield { state: COMPLETED };
  };
}

function streamed(part: Part): Script {
  return async function* () {
    yield { state: WORKING };
    yield { artifact: { artifactId: 'result', name: 'Result', parts: [part] }, lastChunk: true };
    yield { state: COMPLETED };
  };
}

const FILE: Part = { raw: 'VENLIG91dHB1dA==', filename: 'output.txt', mediaType: 'text/plain' };
const FILE_URL: Part = { url: 'https://example.com/output.txt', filename: 'output.txt', mediaType: 'text/plain' };

/** Longer prefixes first where one starts with another. */
const SCRIPTS: readonly (readonly [string, Script])[] = [
  ['tck-artifact-file-url', withArtifact(FILE_URL)],
  ['tck-artifact-file', withArtifact(FILE)],
  ['tck-artifact-text', withArtifact({ text: 'Generated text content' })],
  ['tck-artifact-data', withArtifact({ data: { key: 'value', count: 42 } })],
  [
    'tck-message-response',
    async function* () {
      yield { reply: 'Direct message response' };
    },
  ],
  [
    'tck-input-required',
    async function* () {
      yield { state: 'TASK_STATE_INPUT_REQUIRED', message: 'What exactly?' };
    },
  ],
  [
    'tck-reject-task',
    async function* () {
      yield { state: 'TASK_STATE_REJECTED', message: 'rejected' };
    },
  ],
  ['tck-stream-001', streamed({ text: 'Stream hello from TCK' })],
  [
    'tck-stream-002',
    async function* () {
      yield { state: COMPLETED };
    },
  ],
  ['tck-stream-003', streamed({ text: 'Stream task lifecycle' })],
  ['tck-stream-ordering-001', streamed({ text: 'Ordered output' })],
  ['tck-stream-artifact-text', streamed({ text: 'Streamed text content' })],
  ['tck-stream-artifact-file', streamed(FILE)],
  [
    'tck-stream-artifact-chunked',
    async function* () {
      yield { state: WORKING };
      yield { artifact: { artifactId: 'result', parts: [{ text: 'chunk-1 ' }] } };
      yield { artifact: { artifactId: 'result', parts: [{ text: 'chunk-2' }] }, append: true, lastChunk: true };
      yield { state: COMPLETED };
    },
  ],
  [
    'test-resubscribe-message-id',
    async function* ({ signal }) {
      yield { state: WORKING };
      await sleep(4_000, undefined, { signal });
      yield { state: COMPLETED };
    },
  ],
];

async function* complete(): AsyncGenerator<Update> {
  yield { state: COMPLETED, message: 'Hello from TCK' };
}

export const agent: Agent = {
  recovery: 'rerun',
  skills: [{ id: 'conformance', name: 'Conformance', description: 'Plays what a suite asks for.', tags: ['test'] }],
  run: (turn) => {
    const script = SCRIPTS.find(([prefix]) => turn.message.messageId.startsWith(prefix));
    return script ? script[1](turn) : complete();
  },
};
