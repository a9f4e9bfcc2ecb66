import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { SPANS } from '../../src/spans.ts';
import { BUSY_WORLD, playBusyDay } from '../e2e/busy-day.ts';
import { startWorld, type World } from '../e2e/world.ts';
import { type ExportedSpan, RECORD_SPANS, readSpans } from './span-file.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const REMOTE_SPAN = 'b7ad6b7169203331';

let world: World;
let raw = '';
let spans: readonly ExportedSpan[] = [];
let secrets: ReadonlySet<string> = new Set();
before(async () => {
  const settings = { ...BUSY_WORLD.settings, SPANS_FILE: './spans.jsonl' };
  world = await startWorld({ ...BUSY_WORLD, settings, preload: [RECORD_SPANS] });
  const jira = world.jira();
  await jira.chat('hello').sync({ headers: { traceparent: `00-${TRACE}-${REMOTE_SPAN}-01` } });
  await jira.chat('hello').sync({ headers: { 'x-b3-traceid': '463ac35c9f6413ad48485a3953bb6124' } });
  secrets = await playBusyDay(world);
  const file = join(world.directory, 'spans.jsonl');
  raw = readFileSync(file, 'utf8');
  spans = readSpans(file);
});
after(() => world.close());

const named = (name: string) => spans.filter((span) => span.name === name);
const parentOf = (span: ExportedSpan) => spans.find(({ spanId }) => spanId === span.parentSpanId);

describe('the spans of a busy day', () => {
  test('spans: an SDK that was loaded before the program gets each kind of the table', () => {
    const missing = Object.keys(SPANS).filter((name) => named(name).length === 0);
    // Nobody in Jira lists tasks or speaks gRPC.
    assert.deepEqual(missing, ['grpc.request', 'ListTasks']);
    for (const { name, kind, attributes } of spans) {
      const row = SPANS[name];
      assert.ok(row, name);
      assert.equal(kind, row.kind, name);
      assert.deepEqual(
        Object.keys(attributes).filter((attribute) => !row.attributes.includes(attribute)),
        [],
        name,
      );
    }
  });

  test('spans: no token, no account and no word that people or the agent wrote, in them or in the log', () => {
    const written = `${raw}\n${world.output()}`;
    for (const secret of secrets) {
      const at = written.indexOf(secret);
      assert.equal(at, -1, `"${secret}" in …${written.slice(Math.max(0, at - 300), at + 300)}…`);
    }
    assert.doesNotMatch(written, /eyJ[\w-]{10,}\.[\w-]/, 'nothing that looks like a token');
    assert.doesNotMatch(written, /557057:/, 'no account id');
    for (const span of raw.trim().split('\n')) assert.match(span, /"events":\[\]/);
  });

  test('spans: request, operation, commit, turn and Jira call hang together', () => {
    for (const call of named('jira.call')) assert.equal(parentOf(call)?.name, 'agent.turn');
    for (const turn of named('agent.turn')) {
      const commit = parentOf(turn);
      assert.deepEqual([commit?.name, commit?.attributes.call], ['store.commit', 'accept']);
      const operation = commit && parentOf(commit);
      assert.match(String(operation?.name), /^Send(Streaming)?Message$/);
      assert.equal(operation && parentOf(operation)?.name, 'http.request');
    }
    for (const name of ['GetTask', 'CancelTask', 'SubscribeToTask']) {
      for (const operation of named(name)) assert.equal(parentOf(operation)?.name, 'http.request');
    }
  });

  test('spans: the attempt after a kill is in the trace of the process that is gone', () => {
    const again = named('agent.turn').find(({ attributes }) => attributes.attempt === 2);
    const commit = again && parentOf(again);
    assert.ok(again && commit);
    assert.notEqual(again.pid, commit.pid);
    assert.equal(again.traceId, commit.traceId);
  });

  test('spans: a request goes on with the trace that Jira began, by either header', () => {
    const continued = named('http.request').find(({ parentSpanId }) => parentSpanId === REMOTE_SPAN);
    assert.equal(continued?.traceId, TRACE);
    assert.ok(named('agent.turn').some(({ traceId }) => traceId === TRACE));
    assert.ok(named('agent.turn').some(({ traceId }) => traceId === '463ac35c9f6413ad48485a3953bb6124'));
  });

  test('log: a line names the span that it belongs to', () => {
    const log = world.service().log();
    const turns = named('agent.turn').filter(({ pid }) => pid === world.service().pid);
    for (const { traceId, spanId, attributes } of turns) {
      const lines = log.filter(({ event, taskId, turn }) => {
        return event.startsWith('turn.') && taskId === attributes.taskId && turn === attributes.turn;
      });
      assert.ok(lines.length > 0);
      for (const { trace } of lines) assert.equal(trace, `00-${traceId}-${spanId}-01`);
    }
    const accepted = log.filter(({ event, binding }) => event === 'task.accepted' && binding === 'rovo');
    assert.ok(accepted.length > 5);
    for (const { principal } of accepted) assert.match(String(principal), /^[0-9a-f]{12}$/);
  });
});
