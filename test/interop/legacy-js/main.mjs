import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  ClientFactory,
  ClientFactoryOptions,
  createAuthenticatingFetchWithRetry,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  TaskNotCancelableError,
  TaskNotFoundError,
} from '@a2a-js/sdk/client';

/*
 * The JavaScript client of A2A 0.3 on the scenarios. Runs in a folder of its own, beside its own packages. Prints one
 * ClientLine per line (see ../scenarios.ts).
 */

const input = JSON.parse(process.argv[2] ?? '');
/** What somebody has to give it: without the version it would be handed a card of 1.0. */
const CARD_PATH = '/.well-known/agent-card.json?A2A-Version=0.3';

function expect(holds, what) {
  if (!holds) throw new Error(what);
}

function equal(seen, wanted, what) {
  const [left, right] = [JSON.stringify(seen), JSON.stringify(wanted)];
  expect(left === right, `${what}: ${left} instead of ${right}`);
}

const textOf = (parts) => (parts ?? []).map((part) => (part.kind === 'text' ? part.text : '')).join('');
const artifactText = (task) => (task.artifacts ?? []).map(({ parts }) => textOf(parts)).join('');
const statusText = (task) => textOf(task.status.message?.parts);
const running = (task) => ['submitted', 'working'].includes(task.status.state);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const kindOf = (error) => (error instanceof Error ? `${error.constructor.name}: ${error.message}` : String(error));

async function connect() {
  const fetchImpl = createAuthenticatingFetchWithRetry(fetch, {
    headers: async () => (await fetch(input.headersUrl)).json(),
    shouldRetryWithHeaders: async () => undefined,
  });
  const transports = [new JsonRpcTransportFactory({ fetchImpl })];
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports });
  return new ClientFactory(options).createFromUrl(input.cardBase, CARD_PATH);
}

const client = await connect();

function ask(text, { task, now = false } = {}) {
  const ids = task ? { taskId: task.id, contextId: task.contextId } : {};
  const message = { kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text }], ...ids };
  return { message, configuration: { blocking: !now } };
}

async function send(text, options) {
  const answer = await client.sendMessage(ask(text, options));
  expect(answer.kind === 'task', `the answer is ${answer.kind}`);
  return answer;
}

/** Polls until the task waits for somebody or is over. */
async function settle(task) {
  let seen = task;
  for (let polls = 0; running(seen); polls += 1) {
    expect(polls < 200, `still ${seen.status.state}`);
    await pause(25);
    seen = await client.getTask({ id: seen.id });
  }
  return seen;
}

/** Reads to the end, or until `enough` says so; then the connection is dropped. */
async function follow(stream, enough = () => false) {
  let told;
  const texts = new Map();
  const add = ({ artifactId, parts }, append) =>
    texts.set(artifactId, (append ? (texts.get(artifactId) ?? '') : '') + textOf(parts));
  for await (const event of stream) {
    if (!told) {
      expect(event.kind === 'task', `the first frame is ${event.kind}`);
      for (const artifact of event.artifacts ?? []) add(artifact, false);
      told = { task: event, state: event.status.state, chunks: 0, frames: 0 };
    } else if (event.kind === 'artifact-update') {
      add(event.artifact, event.append ?? false);
      told.chunks += 1;
    } else {
      expect(event.kind === 'status-update', `a frame in the middle is ${event.kind}`);
      told.state = event.status.state;
    }
    told.frames += 1;
    told.text = [...texts.values()].join('');
    if (await enough(told)) break;
  }
  expect(told !== undefined, 'the stream was empty');
  return told;
}

async function refusal(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it was not refused');
}

const SCENARIOS = {
  async card() {
    const card = await new DefaultAgentCardResolver().resolve(input.cardBase, CARD_PATH);
    const shown = `${card.preferredTransport} ${card.protocolVersion}`;
    expect(shown.startsWith('JSONRPC 0.3'), shown);
    return shown;
  },
  async send() {
    const task = await send('hello Ada');
    equal([task.status.state, artifactText(task), statusText(task)], ['completed', 'Hello, Ada', 'Said hello'], 'task');
    return task.status.state;
  },
  async poll() {
    const task = await send('hold', { now: true });
    expect(running(task), `answered ${task.status.state}`);
    const again = await send('go', { task, now: true });
    equal(again.id, task.id, 'task of the second message');
    const done = await settle(task);
    equal([done.status.state, artifactText(done)], ['completed', 'before after'], 'task');
    return `${task.status.state}, then ${done.status.state}`;
  },
  async stream() {
    const told = await follow(client.sendMessageStream(ask('hello Ada')));
    equal([told.state, told.text], ['completed', 'Hello, Ada'], 'stream');
    return `${told.frames} frames`;
  },
  async resubscribe() {
    const dropped = await follow(client.sendMessageStream(ask('hold')), ({ text }) => text === 'before ');
    const told = await follow(client.resubscribeTask({ id: dropped.task.id }), async ({ task, frames }) => {
      if (frames === 1) await send('go', { task, now: true });
      return false;
    });
    equal([told.task.id, told.state, told.text], [dropped.task.id, 'completed', 'before after'], 'subscription');
    return `${told.frames} frames after the drop`;
  },
  async get() {
    const sent = await send('hello Ada');
    const [none, one] = [0, 1].map((historyLength) => client.getTask({ id: sent.id, historyLength }));
    equal([(await none).history?.length ?? 0, (await one).history?.length], [0, 1], 'history');
    equal([(await one).id, artifactText(await one)], [sent.id, 'Hello, Ada'], 'task');
    return sent.status.state;
  },
  async cancel() {
    const task = await send('wait', { now: true });
    const canceled = await client.cancelTask({ id: task.id });
    const seen = await client.getTask({ id: task.id });
    equal([canceled.status.state, seen.status.state], ['canceled', 'canceled'], 'states');
    return seen.status.state;
  },
  async errors() {
    const unknown = await refusal(client.getTask({ id: 'no-such-task' }));
    expect(unknown instanceof TaskNotFoundError, kindOf(unknown));
    const done = await settle(await send('hello Ada'));
    const finished = await refusal(client.cancelTask({ id: done.id }));
    expect(finished instanceof TaskNotCancelableError, kindOf(finished));
    return 'refused';
  },
  async 'finished-stream'() {
    const done = await settle(await send('hello Ada'));
    const over = await refusal(follow(client.resubscribeTask({ id: done.id })));
    // It makes no difference between the errors that come on a stream but in their text.
    expect(over.message.includes('(Code: -32004)'), kindOf(over));
    return 'refused';
  },
  async 'follow-up'() {
    const asked = await settle(await send('ask'));
    equal([asked.status.state, statusText(asked)], ['input-required', 'Which colour?'], 'question');
    const answered = await settle(await send('blue', { task: asked }));
    equal([answered.id, answered.contextId], [asked.id, asked.contextId], 'ids');
    equal([answered.status.state, statusText(answered)], ['completed', 'You said blue'], 'answer');
    return statusText(answered);
  },
  async large() {
    const told = await follow(client.sendMessageStream(ask('large')));
    for (const text of [told.text, artifactText(await client.getTask({ id: told.task.id }))]) {
      const sha256 = createHash('sha256').update(text).digest('hex');
      equal({ utf8Bytes: Buffer.byteLength(text), sha256 }, input.large, 'artifact');
    }
    expect(told.chunks >= 6, `only ${told.chunks} chunks`);
    return `${told.chunks} chunks`;
  },
  async quiet() {
    const told = await follow(client.sendMessageStream(ask('quiet')));
    equal(told.state, 'completed', 'state');
    return `${told.frames} frames`;
  },
};

const say = (line) => console.log(JSON.stringify(line));
const manifest = new URL('../../package.json', import.meta.resolve('@a2a-js/sdk/client'));
const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
say({ client: '@a2a-js/sdk', version, runtime: `Node ${process.version}` });
for (const name of input.scenarios) {
  try {
    expect(Object.hasOwn(SCENARIOS, name), 'this client does not know the scenario');
    say({ scenario: name, ok: true, detail: await SCENARIOS[name]() });
  } catch (error) {
    say({ scenario: name, ok: false, detail: kindOf(error) });
  }
}
