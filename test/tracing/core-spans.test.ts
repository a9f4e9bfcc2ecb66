import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, beforeEach, describe, type TestContext, test } from 'node:test';
import { context, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { Agent } from '../../core/ports/agent.ts';
import { SPANS } from '../../src/spans.ts';
import { createTelemetry, type ServiceTelemetry } from '../../src/telemetry.ts';
import { createClient } from '../support/client.ts';
import { untilSlotIsFree } from '../support/free-slots.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { createCore } from '../support/service.ts';
import { tempDir } from '../support/temp-dir.ts';
import { advanceUntil, createGate, never, until } from '../support/until.ts';
import { parentOf, type Recorder, recordSpans } from './recorder.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const REMOTE = `00-${TRACE}-b7ad6b7169203331-01`;

let recorder: Recorder;
let telemetry: ServiceTelemetry;
let lines: Record<string, unknown>[] = [];
before(() => {
  recorder = recordSpans();
  telemetry = createTelemetry({
    level: 'debug',
    destination: { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  });
});
beforeEach(() => {
  recorder.reset();
  lines = [];
});
after(() => {
  trace.disable();
  context.disable();
});

const answers: Agent = {
  recovery: 'rerun',
  async *run(turn) {
    await turn.step('look', async () => 'seen');
    yield { state: 'TASK_STATE_COMPLETED', message: 'done' };
  },
};

async function serviceOf(t: TestContext, agent: Agent, more: { readonly path?: string; readonly idle?: boolean } = {}) {
  const core = await createCore(t, { agent, telemetry, ...more });
  const caller = { ...core.caller('alice'), trace: REMOTE, binding: 'a2a', version: '1.0' };
  return { core, client: createClient(core, { caller }) };
}

const ended = (name: string): Promise<ReadableSpan> => until(`${name} has ended`, () => recorder.named(name)[0]);
const idOf = (span: ReadableSpan) => span.spanContext().spanId;
const linesOf = (event: string) => lines.filter((line) => line.event === event);

function commit(call: string): ReadableSpan {
  const found = recorder.named('store.commit').find(({ attributes }) => attributes.call === call);
  assert.ok(found, call);
  return found;
}

describe('a turn', () => {
  test('spans: from the caller over the operation and its commit to the turn and what it commits, in one trace', async (t) => {
    const { client } = await serviceOf(t, answers);
    const task = await client.send('please');
    const turn = await ended('agent.turn');
    const operation = await ended('SendMessage');
    assert.equal(parentOf(operation), REMOTE.split('-')[2]);
    assert.equal(parentOf(commit('accept')), idOf(operation));
    assert.equal(parentOf(turn), idOf(commit('accept')));
    for (const call of ['step-begin', 'step-end', 'update']) assert.equal(parentOf(commit(call)), idOf(turn), call);
    for (const span of recorder.spans()) assert.equal(span.spanContext().traceId, TRACE, span.name);
    const { principal, ...attributes } = turn.attributes;
    assert.deepEqual(attributes, {
      ...{ taskId: task.id, contextId: task.contextId, tenant: 'test', turn: 1, attempt: 1, recovery: 'rerun' },
      ...{ outcome: 'ended', transition: 'TASK_STATE_COMPLETED' },
    });
    assert.match(String(principal), /^[0-9a-f]{12}$/);
    assert.deepEqual(
      [operation.attributes.binding, operation.attributes.version, commit('accept').attributes.taskId],
      ['a2a', '1.0', task.id],
    );
  });

  test('spans: a turn that begins with its message is a child of that commit, and the log says first that it was accepted', async (t) => {
    const { core, client } = await serviceOf(t, answers);
    await untilSlotIsFree(core.runner);
    Object.assign(core.store, { claim: () => assert.fail('nothing waits') });
    const { id } = await client.send('please');
    const turn = await ended('agent.turn');
    const accepted = commit('accept');
    assert.equal(parentOf(turn), idOf(accepted));
    const [one, two, ...others] = lines.filter(
      ({ taskId, event }) => taskId === id && String(event).startsWith('task.'),
    );
    assert.deepEqual([one?.event, one?.kind], ['task.accepted', 'create']);
    const { event, from, to, turn: ordinal, attempt, trace: said } = two ?? {};
    assert.deepEqual([event, from, to], ['task.transition', 'TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']);
    assert.deepEqual([ordinal, attempt, said], [1, 1, `00-${TRACE}-${idOf(accepted)}-01`]);
    assert.deepEqual(
      others.map(({ event, to }) => [event, to]),
      [['task.transition', 'TASK_STATE_COMPLETED']],
    );
  });

  test('spans: a turn that a new process runs is in the trace of the call that the old one took', async (t) => {
    const path = join(tempDir(t), 'connector.db');
    const first = await serviceOf(t, answers, { path, idle: true });
    const { id } = await first.client.start('please');
    const accepted = commit('accept');
    await first.core.stop();
    const second = await serviceOf(t, answers, { path });
    assert.equal((await second.client.settled(id)).status.state, 'TASK_STATE_COMPLETED');
    const turn = await ended('agent.turn');
    assert.deepEqual([turn.spanContext().traceId, parentOf(turn)], [TRACE, idOf(accepted)]);
    for (const line of linesOf('turn.ended')) assert.match(String(line.trace), new RegExp(`^00-${TRACE}-`));
  });

  test('spans: the attempt after a lost one is in the same trace, with its number', async (t) => {
    const clock = createManualClock();
    let runs = 0;
    const agent: Agent = {
      recovery: 'rerun',
      async *run() {
        runs += 1;
        if (runs === 1) await never();
        yield { state: 'TASK_STATE_COMPLETED' };
      },
    };
    const core = await createCore(t, { agent, telemetry, clock });
    const client = createClient(core, { caller: { ...core.caller('alice'), trace: REMOTE } });
    const { id, contextId } = await client.start('please');
    await until('it runs', () => runs === 1);
    core.worker.freeze();
    core.addWorker({ agent });
    await advanceUntil(
      clock,
      'it has ended',
      async () => (await client.get(id)).status.state === 'TASK_STATE_COMPLETED',
    );
    const turn = await ended('agent.turn');
    assert.deepEqual([turn.attributes.attempt, parentOf(turn)], [2, idOf(commit('accept'))]);
    const [lost] = linesOf('turn.lost');
    const { taskId, tenant, turn: ordinal, attempt, recovery, trace: logged } = lost ?? {};
    assert.deepEqual([taskId, tenant, ordinal, attempt, recovery], [id, 'test', 1, 2, 'rerun']);
    assert.equal(lost?.contextId, contextId);
    assert.equal(logged, `00-${TRACE}-${idOf(turn)}-01`);
  });

  test('spans: without a trace of the caller, the call begins one that its turn goes on with', async (t) => {
    const core = await createCore(t, { agent: answers, telemetry });
    await createClient(core).send('please');
    const turn = await ended('agent.turn');
    const operation = await ended('SendMessage');
    assert.equal(parentOf(operation), undefined);
    assert.equal(turn.spanContext().traceId, operation.spanContext().traceId);
  });
});

describe('the log', () => {
  test('log: every change of state is said with who, which turn and which attempt', async (t) => {
    const { client } = await serviceOf(t, {
      async *run({ message }) {
        const asked = message.parts.some((part) => 'text' in part && part.text === 'ask');
        yield asked ? { state: 'TASK_STATE_INPUT_REQUIRED', message: 'which?' } : { state: 'TASK_STATE_COMPLETED' };
      },
    });
    const { id, contextId } = await client.send('ask');
    await client.send('this one', { taskId: id });
    const [accepted] = linesOf('task.accepted');
    const { time, level, principal, trace: from, ...said } = accepted ?? {};
    assert.deepEqual(said, {
      ...{
        event: 'task.accepted',
        taskId: id,
        contextId,
        tenant: 'test',
        binding: 'a2a',
        version: '1.0',
        kind: 'create',
      },
    });
    assert.equal(from, `00-${TRACE}-${idOf(commit('accept'))}-01`);
    const story = linesOf('task.transition').map((line) => {
      assert.equal(line.taskId, id);
      assert.equal(line.contextId, contextId);
      assert.equal(line.tenant, 'test');
      assert.equal(line.principal, principal);
      assert.match(String(line.trace), new RegExp(`^00-${TRACE}-`));
      return [line.from, line.to, line.turn, line.attempt].join(' ').replaceAll('TASK_STATE_', '').trim();
    });
    assert.deepEqual(story, [
      'SUBMITTED WORKING 1 1',
      'WORKING INPUT_REQUIRED 1 1',
      'INPUT_REQUIRED WORKING',
      'WORKING COMPLETED 3 1',
    ]);
  });

  test('log: a turn that ends by itself is not said to have been stopped', async (t) => {
    const { core, client } = await serviceOf(t, answers);
    await client.send('please');
    await until('the slot is free', () => core.runner.running === 0);
    // Whatever the turn may still have asked of the store is answered before these.
    await core.store.ping();
    await core.store.ping();
    assert.equal(linesOf('turn.ended').length, 1);
    assert.deepEqual([linesOf('turn.stopped'), linesOf('turn.fenced')], [[], []]);
  });

  test('log: a canceled task names its transition, and the turn that was stopped for it', async (t) => {
    const gate = createGate();
    const { core, client } = await serviceOf(t, {
      async *run({ signal }) {
        gate.open();
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
    const { id } = await client.start('please');
    await gate.opened;
    await client.cancel(id);
    await until('the slot is free', () => core.runner.running === 0);
    const canceled = linesOf('task.transition').at(-1);
    assert.deepEqual([canceled?.taskId, canceled?.to], [id, 'TASK_STATE_CANCELED']);
    assert.equal(canceled?.trace, `00-${TRACE}-${idOf(await ended('CancelTask'))}-01`);
    const [stopped] = linesOf('turn.stopped');
    assert.deepEqual([stopped?.taskId, stopped?.turn, stopped?.attempt, stopped?.reason], [id, 1, 1, 'fenced']);
    const turn = await ended('agent.turn');
    assert.deepEqual([turn.attributes.outcome, turn.attributes.reason], ['stopped', 'fenced']);
  });
});

test('spans: attributes that are recorded are those of the table', async (t) => {
  const { client } = await serviceOf(t, answers);
  const { id } = await client.send('please');
  await client.get(id);
  await client.cancel(id).catch(() => {});
  await client.get('nobody').catch(() => {});
  await ended('agent.turn');
  for (const { name, kind, attributes } of recorder.spans()) {
    const row = SPANS[name];
    assert.ok(row, name);
    assert.equal(kind, row.kind, name);
    assert.deepEqual(
      Object.keys(attributes).filter((attribute) => !row.attributes.includes(attribute)),
      [],
      name,
    );
  }
  assert.ok(recorder.named('GetTask').some(({ attributes }) => attributes.code === 'TASK_NOT_FOUND'));
});
