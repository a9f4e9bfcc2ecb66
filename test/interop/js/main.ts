import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type Artifact,
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  type Part,
  SendMessageRequest,
  type StreamResponse,
  SubscribeToTaskRequest,
  type Task,
  TaskState,
} from '@a2a-js/sdk';
import {
  type CallInterceptor,
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  createAuthenticatingFetchWithRetry,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type TransportFactory,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import type { BindingName, ClientInput, ClientLine } from '../scenarios.ts';

/*
 * The JavaScript client of the A2A project on the scenarios. Prints one ClientLine per line.
 */

const input = JSON.parse(process.argv[2] ?? '') as ClientInput;

function expect(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

function equal(seen: unknown, wanted: unknown, what: string): void {
  const [left, right] = [JSON.stringify(seen), JSON.stringify(wanted)];
  expect(left === right, `${what}: ${left} instead of ${right}`);
}

const headers = async () => (await (await fetch(input.headersUrl)).json()) as Record<string, string>;
const fetchImpl = createAuthenticatingFetchWithRetry(fetch, { headers, shouldRetryWithHeaders: async () => undefined });
const TRANSPORTS: Readonly<Record<BindingName, () => TransportFactory>> = {
  JSONRPC: () => new JsonRpcTransportFactory({ fetchImpl }),
  'HTTP+JSON': () => new RestTransportFactory({ fetchImpl }),
  GRPC: () => new GrpcTransportFactory(),
};

/** HTTP has a fetch of its own for credentials, gRPC sends the parameters of a call as its metadata. */
const metadata: CallInterceptor = {
  async before(call) {
    if (input.binding !== 'GRPC') return;
    call.options = { ...call.options, serviceParameters: { ...call.options?.serviceParameters, ...(await headers()) } };
  },
  async after() {},
};

async function connect(): Promise<Client> {
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [TRANSPORTS[input.binding]()],
    preferredTransports: [input.binding],
    clientConfig: { interceptors: [metadata] },
  });
  return new ClientFactory(options).createFromUrl(input.cardBase);
}

interface Ask {
  readonly task?: Task;
  readonly contextId?: string;
  readonly now?: boolean;
}

function ask(text: string, { task, contextId, now }: Ask = {}): SendMessageRequest {
  const data = task || input.data === null ? [] : [{ data: input.data }];
  return SendMessageRequest.fromJSON({
    message: {
      messageId: randomUUID(),
      role: 'ROLE_USER',
      parts: [{ text }, ...data],
      ...(task ? { taskId: task.id, contextId: task.contextId } : {}),
      ...(contextId === undefined ? {} : { contextId }),
    },
    configuration: { returnImmediately: now ?? false },
  });
}

const textOf = (parts: readonly Part[] | undefined): string =>
  (parts ?? []).map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
const artifactText = (task: Task): string => task.artifacts.map(({ parts }) => textOf(parts)).join('');
const statusText = (task: Task): string => textOf(task.status?.message?.parts);
const stateOf = (task: Task): string => TaskState[task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED] ?? '';
const running = (task: Task): boolean => ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'].includes(stateOf(task));

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

class Session {
  private readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  async send(text: string, options?: Ask): Promise<Task> {
    const answer = await this.client.sendMessage(ask(text, options));
    expect('status' in answer, 'the answer is no task');
    return answer;
  }

  get(id: string, historyLength?: number): Promise<Task> {
    return this.client.getTask(GetTaskRequest.fromJSON({ id, historyLength }));
  }

  /** Polls until the task waits for somebody or is over. */
  async settle(task: Task): Promise<Task> {
    let seen = task;
    for (let polls = 0; running(seen); polls += 1) {
      expect(polls < 200, `still ${stateOf(seen)}`);
      await pause(25);
      seen = await this.get(seen.id);
    }
    return seen;
  }

  list(filter: object) {
    return this.client.listTasks(ListTasksRequest.fromJSON(filter));
  }

  cancel(id: string): Promise<Task> {
    return this.client.cancelTask(CancelTaskRequest.fromJSON({ id }));
  }

  stream(text: string): AsyncGenerator<StreamResponse, void, undefined> {
    return this.client.sendMessageStream(ask(text));
  }

  subscribe(id: string): AsyncGenerator<StreamResponse, void, undefined> {
    return this.client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id }));
  }
}

interface Told {
  /** Of the Task frame, which has to come first. */
  readonly task: Task;
  readonly text: string;
  readonly chunks: number;
  readonly state: string;
  readonly frames: number;
}

/** Reads to the end, or until `enough` says so; then the connection is dropped. */
async function follow(
  stream: AsyncGenerator<StreamResponse, void, undefined>,
  enough: (told: Told) => boolean | Promise<boolean> = () => false,
): Promise<Told> {
  let told: Told | undefined;
  const texts = new Map<string, string>();
  const add = (artifact: Artifact, append: boolean): void => {
    const before = append ? (texts.get(artifact.artifactId) ?? '') : '';
    texts.set(artifact.artifactId, before + textOf(artifact.parts));
  };
  for await (const { payload } of stream) {
    if (!told) {
      expect(payload?.$case === 'task', `the first frame is ${payload?.$case}`);
      for (const artifact of payload.value.artifacts) add(artifact, false);
      told = { task: payload.value, text: '', chunks: 0, state: stateOf(payload.value), frames: 0 };
    } else if (payload?.$case === 'artifactUpdate' && payload.value.artifact) {
      add(payload.value.artifact, payload.value.append);
      told = { ...told, chunks: told.chunks + 1 };
    } else if (payload?.$case === 'statusUpdate') {
      told = { ...told, state: TaskState[payload.value.status?.state ?? 0] ?? '' };
    } else throw new Error(`a frame in the middle is ${payload?.$case}`);
    told = { ...told, text: [...texts.values()].join(''), frames: told.frames + 1 };
    if (await enough(told)) break;
  }
  expect(told !== undefined, 'the stream was empty');
  return told;
}

async function refusal(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it was not refused');
}

const kindOf = (error: unknown): string =>
  error instanceof Error ? `${error.constructor.name}: ${error.message}` : '';

const SCENARIOS: Readonly<Record<string, (session: Session) => Promise<string>>> = {
  async card() {
    const { supportedInterfaces } = await new DefaultAgentCardResolver().resolve(input.cardBase);
    const shown = supportedInterfaces.map(
      ({ protocolBinding, protocolVersion }) => `${protocolBinding} ${protocolVersion}`,
    );
    expect(shown.includes(`${input.binding} 1.0`), shown.join());
    return shown.join(', ');
  },
  async send(session) {
    const task = await session.send('hello Ada');
    equal(
      [stateOf(task), artifactText(task), statusText(task)],
      ['TASK_STATE_COMPLETED', 'Hello, Ada', 'Said hello'],
      'task',
    );
    return stateOf(task);
  },
  async poll(session) {
    const task = await session.send('hold', { now: true });
    expect(running(task), `answered ${stateOf(task)}`);
    const again = await session.send('go', { task, now: true });
    equal(again.id, task.id, 'task of the second message');
    const done = await session.settle(task);
    equal([stateOf(done), artifactText(done)], ['TASK_STATE_COMPLETED', 'before after'], 'task');
    return `${stateOf(task)}, then ${stateOf(done)}`;
  },
  async stream(session) {
    const told = await follow(session.stream('hello Ada'));
    equal([told.state, told.text], ['TASK_STATE_COMPLETED', 'Hello, Ada'], 'stream');
    return `${told.frames} frames`;
  },
  async resubscribe(session) {
    const { task } = await follow(session.stream('hold'), ({ text }) => text === 'before ');
    let released = false;
    const told = await follow(session.subscribe(task.id), async () => {
      if (!released) await session.send('go', { task, now: true });
      released = true;
      return false;
    });
    equal([told.task.id, told.state, told.text], [task.id, 'TASK_STATE_COMPLETED', 'before after'], 'subscription');
    return `${told.frames} frames after the drop`;
  },
  async get(session) {
    const sent = await session.send('hello Ada');
    const [none, one] = [await session.get(sent.id, 0), await session.get(sent.id, 1)];
    equal([none.history.length, one.history.length], [0, 1], 'history');
    equal([one.id, artifactText(one)], [sent.id, 'Hello, Ada'], 'task');
    return stateOf(one);
  },
  async list(session) {
    const first = await session.send('hello A');
    const second = await session.send('hello B', { contextId: first.contextId });
    const { contextId } = first;
    const all = await session.list({ contextId });
    equal([all.tasks.map(({ id }) => id), all.totalSize], [[second.id, first.id], 2], 'list');
    equal(all.tasks.map(artifactText), ['', ''], 'artifacts that nobody asked for');
    return `${all.totalSize} tasks`;
  },
  async page(session) {
    const { contextId } = await session.send('hello A');
    await session.send('hello B', { contextId });
    const page = await session.list({ contextId, pageSize: 1, includeArtifacts: true });
    const next = await session.list({ contextId, pageSize: 1, includeArtifacts: true, pageToken: page.nextPageToken });
    equal([...page.tasks, ...next.tasks].map(artifactText), ['Hello, B', 'Hello, A'], 'pages');
    equal(next.nextPageToken, '', 'token of the last page');
    return `1 of ${page.totalSize}, then 1 of ${next.totalSize}`;
  },
  async cancel(session) {
    const task = await session.send('wait', { now: true });
    const canceled = await session.cancel(task.id);
    equal(
      [stateOf(canceled), stateOf(await session.get(task.id))],
      ['TASK_STATE_CANCELED', 'TASK_STATE_CANCELED'],
      'state',
    );
    return stateOf(canceled);
  },
  async errors(session) {
    const unknown = await refusal(session.get('no-such-task'));
    expect(unknown instanceof TaskNotFoundError, kindOf(unknown));
    const done = await session.settle(await session.send('hello Ada'));
    const finished = await refusal(session.cancel(done.id));
    expect(finished instanceof TaskNotCancelableError, kindOf(finished));
    return 'refused';
  },
  async 'finished-stream'(session) {
    const done = await session.settle(await session.send('hello Ada'));
    if (input.edge === 'a2a') {
      const over = await refusal(follow(session.subscribe(done.id)));
      expect(over instanceof UnsupportedOperationError, kindOf(over));
      return 'refused';
    }
    const told = await follow(session.subscribe(done.id));
    equal([told.frames, told.state], [1, 'TASK_STATE_COMPLETED'], 'subscription');
    return 'shown';
  },
  async 'follow-up'(session) {
    const asked = await session.settle(await session.send('ask'));
    equal([stateOf(asked), statusText(asked)], ['TASK_STATE_INPUT_REQUIRED', 'Which colour?'], 'question');
    const answered = await session.settle(await session.send('blue', { task: asked }));
    equal([answered.id, answered.contextId], [asked.id, asked.contextId], 'ids');
    equal([stateOf(answered), statusText(answered)], ['TASK_STATE_COMPLETED', 'You said blue'], 'answer');
    return statusText(answered);
  },
  async large(session) {
    const told = await follow(session.stream('large'));
    const fetched = artifactText(await session.get(told.task.id));
    for (const text of [told.text, fetched]) {
      const sha256 = createHash('sha256').update(text).digest('hex');
      equal({ utf8Bytes: Buffer.byteLength(text), sha256 }, input.large, 'artifact');
    }
    expect(told.chunks >= 6, `only ${told.chunks} chunks`);
    return `${told.chunks} chunks`;
  },
  async quiet(session) {
    const told = await follow(session.stream('quiet'));
    equal(told.state, 'TASK_STATE_COMPLETED', 'state');
    return `${told.frames} frames`;
  },
};

function say(line: ClientLine): void {
  console.log(JSON.stringify(line));
}

const manifest = new URL('../../package.json', import.meta.resolve('@a2a-js/sdk/client'));
const { version } = JSON.parse(readFileSync(manifest, 'utf8').toString()) as { version: string };
say({ client: '@a2a-js/sdk', version, runtime: `Node ${process.version}` });
const session = new Session(await connect());
for (const name of input.scenarios) {
  try {
    const play = SCENARIOS[name];
    expect(play !== undefined, 'this client does not know the scenario');
    say({ scenario: name, ok: true, detail: await play(session) });
  } catch (error) {
    say({ scenario: name, ok: false, detail: kindOf(error) });
  }
}
