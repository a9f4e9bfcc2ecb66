import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ALONE_MARK, placeholderOf } from '../../core/cut-marks.ts';
import { DomainError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { JsonObject, Message, Part } from '../../core/message.ts';
import { createOperations } from '../../core/operations/create-operations.ts';
import type { Answer, SendOptions } from '../../core/operations/operations.ts';
import { type Made, plainParts, toldEnd } from '../../core/operations/told-end.ts';
import type { Agent, Turn, Update } from '../../core/ports/agent.ts';
import type { TaskStore } from '../../core/ports/task-store.ts';
import type { Written } from '../../core/ports/wakeups.ts';
import type { Task, TaskState } from '../../core/task.ts';
import { sha256, timeOrderedIds } from '../../src/system-clock.ts';
import { A2A, createClient, ROVO } from '../support/client.ts';
import { untilSlotIsFree } from '../support/free-slots.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createCore } from '../support/service.ts';
import { silentTelemetry } from '../support/silent-telemetry.ts';
import { createGate, until } from '../support/until.ts';

/*
 * A blocking answer is the task as it is stored, whether it was read or is known from what was told. Each of these compares
 * it with GetTask, and says whether it was read.
 */

type Play = (turn: Turn) => AsyncIterable<Update>;

/** A process with one agent, whose sends are counted in reads of a task. */
async function siteOf(t: TestContext, run: Play, recovery: Agent['recovery'] = 'rerun') {
  const core = await createCore(t, { clock: createManualClock(), agent: { recovery, run } });
  // Of a claimed turn not all is told at its end.
  if (recovery === 'rerun') await untilSlotIsFree(core.runner);
  let reads = 0;
  const store: TaskStore = {
    ...core.store,
    read: (...request) => {
      reads += 1;
      return core.store.read(...request);
    },
  };
  const { vault, wakeups, clock, worker } = core;
  const deps = { store, vault, wakeups, clock, ids: timeOrderedIds, digest: sha256, telemetry: silentTelemetry };
  const operations = createOperations({ ...deps, slots: worker.slots });
  const client = createClient(core);
  let sent = 0;

  interface Sending extends Partial<SendOptions> {
    readonly message?: Partial<Message>;
    readonly profile?: typeof A2A;
  }

  function send({ message, profile = A2A, ...options }: Sending = {}): Promise<Answer> {
    sent += 1;
    const whole: Message = { messageId: `m${sent}`, role: 'ROLE_USER', parts: [{ text: 'hello' }], ...message };
    const incoming = { caller: client.caller, message: whole, key: whole.messageId, deadlineMs: 60_000 };
    const { signal } = new AbortController();
    return operations.sendMessage(profile, incoming, { returnImmediately: false, ...options }, signal);
  }

  /** Sends, compares, and answers how often the task was read for it. */
  async function compared(sending: Sending = {}): Promise<number> {
    const before = reads;
    const answer = await send(sending);
    const spent = reads - before;
    if ('message' in answer) {
      const task = await client.get(answer.message.taskId ?? '');
      assert.deepEqual(answer.message, task.status.message);
    } else assert.deepEqual(answer.task, await client.get(answer.task.id, sending.historyLength));
    return spent;
  }

  return { core, client, send, compared, reads: () => reads };
}

const end = (message: string | readonly Part[] | undefined, metadata?: JsonObject, state = 'TASK_STATE_COMPLETED') =>
  async function* (): AsyncGenerator<Update> {
    yield {
      state: state as 'TASK_STATE_COMPLETED',
      ...(message === undefined ? {} : { message }),
      ...(metadata && { metadata }),
    };
  };

const FILE: Part = { raw: 'A'.repeat(70_000), filename: 'file.bin', mediaType: 'application/pdf' };
const LARGEST: JsonObject = { note: 'x'.repeat(LIMITS.metadataChars - 20) };

/** Known from what was told. */
const TOLD: Readonly<Record<string, Play>> = {
  'a text': end('done'),
  'no word': end(undefined),
  'texts of each width': end('é😀👩‍👩‍👧\u0001\u2028\u0085"\\\n\u0000\ud800'),
  'parts of each kind': end([
    { text: 'x', mediaType: 'text/markdown', metadata: { a: [1, 1e21, null, { b: false }] } },
    { raw: 'AAAA', filename: 'a.bin' },
    { url: 'https://example.test/a', filename: 'a' },
    { data: { deep: [[['x']]], nothing: null } },
    { data: null },
  ]),
  metadata: end('done', { a: 1, nested: { b: ['x'] } }),
  'metadata without members': end('done', {}),
  'metadata with hard names': end('done', JSON.parse('{"__proto__":{"a":1},"constructor":"x","":0}')),
  'the largest metadata': end('done', LARGEST),
  'a text that just fits': end('x'.repeat(53_000)),
  'a reply': async function* () {
    yield { reply: 'hi' };
  },
  'a reply of parts': async function* () {
    yield { reply: [{ text: 'hi' }, { data: { a: 1 } }] };
  },
  'a failure of its own': end('no', undefined, 'TASK_STATE_FAILED'),
  'a rejection': end('no', { why: 'x' }, 'TASK_STATE_REJECTED'),
  'a cancellation of its own': end(undefined, undefined, 'TASK_STATE_CANCELED'),
  'something thrown': async function* () {
    yield* [];
    throw new Error('broken');
  },
  'no end': async function* () {},
};

/** Has to be read. */
const READ: Readonly<Record<string, Play>> = {
  'a report before': async function* () {
    yield { state: 'TASK_STATE_WORKING', message: 'soon', metadata: { step: 1 } };
    yield { state: 'TASK_STATE_COMPLETED', message: 'done' };
  },
  'an artifact before': async function* () {
    yield { artifact: { artifactId: 'a', parts: [{ text: 'x' }] } };
    yield { state: 'TASK_STATE_COMPLETED', message: 'done' };
  },
  'a stream of artifacts': async function* () {
    for (let n = 0; n < 5; n += 1) {
      yield { artifact: { artifactId: `a${n % 2}`, parts: [{ text: 'x'.repeat(40_000) }] }, append: n > 1 };
    }
    yield { state: 'TASK_STATE_COMPLETED' };
  },
  'a question': end('which?', undefined, 'TASK_STATE_INPUT_REQUIRED'),
  'a request for permission': end('may I?', { a: 1 }, 'TASK_STATE_AUTH_REQUIRED'),
  'a missing token': async function* () {
    yield* [];
    throw new DomainError('USER_TOKEN_REQUIRED', 'Please allow it', { tokenHash: '' });
  },
  'a text that is cut': end('x'.repeat(100_000)),
  'a text of wide characters that is cut': end('\u2028'.repeat(20_000)),
  'a text beside the largest metadata': end('x'.repeat(50_000), LARGEST),
  'a file that is named': end([{ text: 'see' }, FILE]),
  'data that are named': end([{ data: { text: 'x'.repeat(70_000) } }, { text: 'above' }]),
  'many parts': end(Array.from({ length: 9_000 }, () => ({ url: 'x' }))),
  'words that look like a cut': end(`x ${ALONE_MARK}`),
  'words that look like a named part': end([{ text: placeholderOf(FILE).text }]),
};

describe('a blocking answer without a read is what GetTask says', () => {
  for (const [name, play] of Object.entries(TOLD)) {
    it(`when the agent ends with ${name}`, async (t) => {
      const site = await siteOf(t, play);
      assert.equal(await site.compared(), 0);
      assert.equal(await site.compared({ profile: ROVO }), 0);
      for (const historyLength of [0, 1, 5]) assert.equal(await site.compared({ historyLength }), 1);
    });
  }

  it('when its message has files, links and details', async (t) => {
    const site = await siteOf(t, end('done'));
    const parts: readonly Part[] = [
      { text: '\u2028"😀', mediaType: 'text/plain', filename: 'a' },
      { raw: 'AAAA' },
      { url: 'x:y' },
    ];
    assert.equal(await site.compared({ message: { parts } }), 0);
    assert.equal(await site.compared({ message: { parts: [{ text: 'x'.repeat(200_000) }] } }), 0);
  });

  it('when it is in a context, alone and not', async (t) => {
    const site = await siteOf(t, end('done'));
    for (let n = 0; n < 3; n += 1) assert.equal(await site.compared({ message: { contextId: 'c' } }), 0);
    assert.equal(await site.compared({ message: { contextId: 'c' }, profile: ROVO }), 0);
  });

  it('when somebody cancels it meanwhile', async (t) => {
    const gate = createGate();
    t.after(() => gate.open());
    const running: string[] = [];
    const site = await siteOf(t, async function* ({ task }) {
      running.push(task.id);
      await gate.opened;
      yield { state: 'TASK_STATE_COMPLETED' };
    });
    const answer = site.compared();
    await site.client.cancel(await until('it runs', () => running[0]));
    assert.equal(await answer, 0);
  });

  it('when the agent changes what it was given', async (t) => {
    const site = await siteOf(t, async function* ({ message, task }) {
      const given = message as unknown as { parts: { text: string }[]; messageId: string };
      for (const part of given.parts) part.text = 'changed';
      given.parts.push({ text: 'more' });
      given.messageId = 'changed';
      Object.assign(task.status, { state: 'TASK_STATE_FAILED' });
      yield { state: 'TASK_STATE_COMPLETED' };
    });
    assert.equal(await site.compared(), 0);
  });

  it('when many come at once', async (t) => {
    const site = await siteOf(t, async function* ({ message }) {
      yield { state: 'TASK_STATE_COMPLETED', message: message.parts, metadata: { id: message.messageId } };
    });
    const sending = Array.from({ length: 40 }, (_, n) => site.send({ message: { parts: [{ text: `message ${n}` }] } }));
    for (const answer of await Promise.all(sending)) {
      assert('task' in answer);
      assert.deepEqual(answer.task, await site.client.get(answer.task.id));
    }
    assert.ok(site.reads() <= 40 - 8, 'the first ones have found a slot');
  });
});

describe('a blocking answer is read', () => {
  for (const [name, play] of Object.entries(READ)) {
    it(`when the agent ends with ${name}`, async (t) => {
      const site = await siteOf(t, play);
      assert.equal(await site.compared(), 1);
    });
  }

  it('when its turn was claimed', async (t) => {
    const site = await siteOf(t, end('done'), 'review');
    assert.equal(await site.compared(), 1);
  });

  it('when its message holds more than plain parts', async (t) => {
    const site = await siteOf(t, end('done'));
    for (const message of [
      { metadata: { a: 1 } },
      { extensions: ['https://example.test/x'] },
      { referenceTaskIds: ['t'] },
      { parts: [{ data: { a: 1 } }] },
      { parts: [{ text: 'x', metadata: { a: 1 } }] },
    ]) {
      assert.equal(await site.compared({ message }), 1);
    }
  });

  it('when another message came meanwhile', async (t) => {
    const gate = createGate();
    const running: string[] = [];
    const site = await siteOf(t, async function* ({ task, inbox }) {
      running.push(task.id);
      await gate.opened;
      inbox();
      yield { state: 'TASK_STATE_COMPLETED', message: 'both' };
    });
    const answer = site.compared();
    const taskId = await until('it runs', () => running[0]);
    const more = site.compared({ message: { taskId } });
    await until('the message is there', async () => (await site.client.get(taskId)).history?.length === 2);
    gate.open();
    await Promise.all([answer, more]);
    assert.equal(site.reads(), 2);
  });
});

describe('what is told of a task that was just made', () => {
  const message: Message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const made: Made = { id: 't', contextId: 'c', sequence: 2, message };
  const stateIs = (state: TaskState) => ({ state, timestamp: '2030-01-01T00:00:00.000Z' });
  const update = (state: TaskState) => ({ statusUpdate: { taskId: 't', contextId: 'c', status: stateIs(state) } });
  const ended = update('TASK_STATE_COMPLETED');

  function written(first: number, ...bodies: readonly Written['events'][number]['body'][]): Written {
    const events = bodies.map((body, index) => ({ sequence: first + index, body, at: 0 }));
    return { first, last: first + bodies.length - 1, events, reply: false };
  }

  it('is all of it when the next event ends it', () => {
    const task: Task = {
      ...{ id: 't', contextId: 'c', status: stateIs('TASK_STATE_COMPLETED') },
      ...{ artifacts: [], history: [message] },
    };
    assert.deepEqual(toldEnd(made, written(3, ended)), { task, reply: false });
    assert.deepEqual(toldEnd(made, { ...written(3, ended), reply: true }), { task, reply: true });
  });

  it('is not all of it in any other case', () => {
    const artifact = { artifactId: 'a', parts: [{ text: 'x' }] };
    for (const told of [
      undefined,
      ...[1, 2, 4, 5].map((first) => written(first, ended)),
      written(3, update('TASK_STATE_WORKING')),
      written(3, update('TASK_STATE_INPUT_REQUIRED')),
      written(3, update('TASK_STATE_AUTH_REQUIRED')),
      written(3, update('TASK_STATE_WORKING'), ended),
      written(2, update('TASK_STATE_WORKING'), ended),
      written(3, { artifactUpdate: { taskId: 't', contextId: 'c', artifact } }),
      written(3, { task: { id: 't', contextId: 'c', status: stateIs('TASK_STATE_COMPLETED') } }),
      { first: 3, last: 3, events: [], reply: false },
    ]) {
      assert.equal(toldEnd(made, told), undefined);
    }
  });

  it('is not asked for its events before they are known to be the right ones', () => {
    const told: Written = {
      ...{ first: 4, last: 4, reply: false },
      get events() {
        return assert.fail('they may have to be made first');
      },
    };
    assert.equal(toldEnd(made, told), undefined);
  });

  it('has parts of its own, that nobody else can change', () => {
    const parts = [{ text: 'hello' }, { url: 'x:y' }];
    const copies = plainParts({ ...message, parts });
    assert.deepEqual(copies, parts);
    assert(copies !== parts && copies?.[0] !== parts[0] && copies?.[1] !== parts[1]);
  });
});
