import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace-base';
import { DomainError } from '../../core/errors.ts';
import { withoutSpan } from '../../core/ports/telemetry.ts';
import { createTracing } from '../../src/tracing.ts';
import { parentOf, type Recorder, recordSpans } from './recorder.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const REMOTE = `00-${TRACE}-${SPAN}-01`;
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl';

after(() => {
  trace.disable();
  context.disable();
});

describe('without an SDK', () => {
  beforeEach(() => {
    trace.disable();
    context.disable();
  });

  test('tracing: the work is called as it is, with no trace context, whatever its parent', async () => {
    const span = createTracing();
    assert.equal(span, withoutSpan);
    const seen = await span('agent.turn', { parent: REMOTE, fields: () => ({ taskId: 't1' }) }, async (own) => {
      own.set({ attempt: 1 });
      return { traceparent: own.traceparent, active: trace.getActiveSpan() };
    });
    assert.deepEqual(seen, { traceparent: undefined, active: undefined });
  });
});

describe('with an SDK', () => {
  let recorder: Recorder;
  let span: ReturnType<typeof createTracing>;
  beforeEach(() => {
    recorder = recordSpans();
    span = createTracing();
  });

  const only = () => {
    const [first, ...others] = recorder.spans();
    assert.ok(first && others.length === 0);
    return first;
  };

  test('tracing: looking whether there is an SDK leaves no span', () => {
    assert.deepEqual(recorder.spans(), []);
  });

  test('tracing: a span inside another is its child, also behind an await, and both end', async () => {
    await span('SendMessage', {}, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      await span('store.commit', {}, async () => {});
    });
    const [commit, operation] = recorder.spans();
    assert.deepEqual([commit?.name, operation?.name], ['store.commit', 'SendMessage']);
    assert.ok(commit && operation);
    assert.equal(parentOf(commit), operation.spanContext().spanId);
    assert.equal(parentOf(operation), undefined);
  });

  test('tracing: a remote parent is taken up, and the own context is what goes on', async () => {
    const own = await span('agent.turn', { parent: REMOTE }, async ({ traceparent }) => traceparent);
    const recorded = only();
    assert.equal(parentOf(recorded), SPAN);
    assert.equal(own, `00-${TRACE}-${recorded.spanContext().spanId}-01`);
  });

  test('tracing: a B3 trace id is a parent, too', async () => {
    await span('agent.turn', { parent: 'a48485a3953bb612' }, async () => {});
    assert.equal(only().spanContext().traceId, '0000000000000000a48485a3953bb612');
    assert.equal(parentOf(only()), 'a48485a3953bb612');
  });

  test('tracing: inside a span of the same trace a remote parent changes nothing, inside another trace it counts', async () => {
    await span('http.request', { parent: REMOTE }, () => span('GetTask', { parent: REMOTE }, async () => {}));
    const [inner, outer] = recorder.spans();
    assert.ok(inner && outer);
    assert.equal(parentOf(inner), outer.spanContext().spanId);
    recorder.reset();
    await span('http.request', {}, () => span('agent.turn', { parent: REMOTE }, async () => {}));
    assert.equal(recorder.spans()[0]?.spanContext().traceId, TRACE);
  });

  test('tracing: a malformed parent counts as none', async () => {
    await span('agent.turn', { parent: 'request-id-missing' }, async () => {});
    assert.equal(parentOf(only()), undefined);
  });

  test('tracing: attributes are the listed fields as the log shows them', async () => {
    const fields = {
      taskId: 't1',
      attempt: 2,
      principal: '557058:1234',
      reason: `refused ${JWT}`,
      prompt: 'secret plan',
    };
    await span('agent.turn', { fields: () => fields }, async (own) =>
      own.set({ attempt: 3, trace: REMOTE, kind: undefined }),
    );
    const { principal, ...rest } = only().attributes;
    assert.deepEqual(rest, { taskId: 't1', attempt: 3, reason: 'refused [token]' });
    assert.match(String(principal), /^[0-9a-f]{12}$/);
  });

  test('tracing: what the work throws comes out, and the span has its code and nothing that it says', async () => {
    const thrown = new Error(`no such account: alice, ${JWT}`);
    await assert.rejects(
      span('SendMessage', {}, () => Promise.reject(thrown)),
      (error) => error === thrown,
    );
    const { attributes, status, events } = only();
    assert.deepEqual(attributes, { code: 'INTERNAL' });
    assert.deepEqual(status, { code: SpanStatusCode.ERROR });
    assert.deepEqual(events, []);
  });

  test('tracing: a refusal has its code and is no fault; a store that is away is one', async () => {
    for (const [code, expected] of [
      ['TASK_NOT_FOUND', SpanStatusCode.UNSET],
      ['STORE_UNAVAILABLE', SpanStatusCode.ERROR],
    ] as const) {
      recorder.reset();
      await assert.rejects(span('GetTask', {}, () => Promise.reject(new DomainError(code, 'no'))));
      assert.deepEqual([only().attributes.code, only().status.code], [code, expected]);
    }
  });

  test('tracing: a synchronous throw is a rejection and ends the span', async () => {
    const work = (): Promise<void> => {
      throw new TypeError('at once');
    };
    await assert.rejects(span('GetTask', {}, work), TypeError);
    assert.equal(recorder.spans().length, 1);
  });

  test('tracing: a trace that is not sampled says so to what it starts', async () => {
    recorder = recordSpans(new AlwaysOffSampler());
    span = createTracing();
    const own = await span('SendMessage', { fields: () => ({ taskId: 't1' }) }, async ({ traceparent }) => traceparent);
    assert.match(String(own), /^00-[\da-f]{32}-[\da-f]{16}-00$/);
    assert.deepEqual(recorder.spans(), []);
  });
});
