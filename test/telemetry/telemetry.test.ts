import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LOG_FIELDS } from '../../src/log-record.ts';
import { METRICS } from '../../src/metrics.ts';
import { createTelemetry } from '../../src/telemetry.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl';

function recorder(level: 'debug' | 'info' = 'debug') {
  const lines: string[] = [];
  const telemetry = createTelemetry({ level, destination: { write: (line: string) => void lines.push(line) } });
  return { telemetry, lines, last: () => JSON.parse(lines.at(-1) ?? '{}') };
}

describe('log', () => {
  test('telemetry: a line is one JSON object with level, time, event and the fields', () => {
    const { telemetry, lines, last } = recorder();
    telemetry.event('warn', 'task.accepted', { taskId: 't1', attempt: 2, active: true, trace: undefined });
    assert.equal(lines.length, 1);
    const { time, ...rest } = last();
    assert.deepEqual(rest, { level: 'warn', event: 'task.accepted', taskId: 't1', attempt: 2, active: true });
    assert.match(time, /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.deepEqual(Object.keys(last()), ['level', 'time', 'event', 'taskId', 'attempt', 'active']);
  });

  test('telemetry: a line has the time of its millisecond, also when the clock was set back', (t) => {
    const { telemetry, lines } = recorder();
    const times = [1_000, 1_000, 1_001, 999].map((ms) => ms + Date.UTC(2026, 10, 30));
    const left = [...times];
    t.mock.method(Date, 'now', () => left.shift());
    for (const _ of times) telemetry.event('info', 'x');
    assert.deepEqual(
      lines.map((line) => Date.parse(JSON.parse(line).time)),
      times,
    );
  });

  test('telemetry: a name of an event that looks like a token is none in the log', () => {
    const { telemetry, last } = recorder();
    telemetry.event('info', JWT);
    assert.equal(last().event, '[token]');
  });

  test('telemetry: a field that cannot be read is a line of its own and no failure', () => {
    const { telemetry, lines, last } = recorder();
    telemetry.event('info', 'x', {
      get taskId(): string {
        throw new Error('a getter that throws');
      },
    });
    assert.equal(lines.length, 1);
    assert.deepEqual([last().level, last().event], ['error', 'telemetry.event_failed']);
  });

  test('telemetry: a line waits where the destination lets it, with the time at which it was said; one with an error does not', (t) => {
    const lines: string[] = [];
    const deferred: (() => void)[] = [];
    const destination = {
      write: (line: string) => void lines.push(line),
      defer: (line: () => void) => void deferred.push(line),
    };
    const telemetry = createTelemetry({ level: 'info', destination });
    const at = Date.UTC(2026, 11, 1);
    t.mock.method(Date, 'now', () => at);
    telemetry.event('info', 'x', { taskId: 't1' });
    telemetry.event('debug', 'x');
    assert.deepEqual(lines, []);
    t.mock.method(Date, 'now', () => at + 5_000);
    for (const line of deferred) line();
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      [{ level: 'info', time: new Date(at).toISOString(), event: 'x', taskId: 't1' }],
    );
    telemetry.event('info', 'y', {}, new Error('now'));
    assert.equal(JSON.parse(lines.at(-1) ?? '{}').event, 'y');
  });

  test('telemetry: an error does not wait in the destination, other lines may', () => {
    const asked: string[] = [];
    const destination = { write: (line: string) => void asked.push(line), flush: () => void asked.push('flush') };
    const telemetry = createTelemetry({ level: 'info', destination });
    telemetry.event('info', 'x');
    telemetry.event('warn', 'x');
    assert.ok(!asked.includes('flush'));
    telemetry.event('error', 'x');
    assert.equal(asked.at(-1), 'flush');
  });

  test('telemetry: a field that is not on the list is dropped and named', () => {
    const { telemetry, lines, last } = recorder();
    telemetry.event('info', 'x', { taskId: 't1', prompt: 'the salary of Bob', comment: 'secret plan' });
    assert.deepEqual(last().dropped, ['prompt', 'comment']);
    assert.doesNotMatch(lines.join(), /salary|secret plan/);
  });

  test('telemetry: an object in the place of a primitive is dropped, also under a known name', () => {
    const { telemetry, lines, last } = recorder();
    telemetry.event('info', 'x', { taskId: { authorization: 'hunter2' } as unknown as string });
    assert.deepEqual(last().dropped, ['taskId']);
    assert.doesNotMatch(lines.join(), /hunter2/);
  });

  test('telemetry: tokens are cut out of fields, messages, stacks and causes', () => {
    const { telemetry, lines, last } = recorder();
    const error = new Error(`GET failed with Bearer abc.def-ghi and ${JWT}`, {
      cause: new Error('connect https://me:hunter2@api.example/x ATATT3xFfGF0abcdefghijklmnop=AB12'),
    });
    telemetry.event('error', 'x', { reason: `refused ${JWT}` }, error);
    assert.doesNotMatch(lines.join(), /abc\.def-ghi|eyJ|hunter2|3xFfGF0/);
    const { reason, error: logged } = last();
    assert.equal(reason, 'refused [token]');
    assert.equal(logged.type, 'Error');
    assert.match(logged.message, /^GET failed with Bearer \[token\] and \[token\]$/);
    assert.match(logged.stack, /telemetry\.test/);
    assert.match(logged.cause.message, /\[user\]@api\.example/);
  });

  test('telemetry: our own words about bearer tokens stay as they are, a token that begins like them does not', () => {
    const { telemetry, last } = recorder();
    for (const [text, shown] of [
      ['A bearer token is required', 'A bearer token is required'],
      ['no bearer token', 'no bearer token'],
      ['Bearer token-4711', 'Bearer [token]'],
    ] as const) {
      telemetry.event('info', 'x', { reason: text });
      assert.equal(last().reason, shown);
    }
  });

  test('telemetry: a token that a cut would split is still not shown', () => {
    const { telemetry, lines } = recorder();
    telemetry.event('info', 'x', { reason: `${'a '.repeat(145)}${JWT}` });
    assert.doesNotMatch(lines.join(), /eyJ/);
  });

  test('telemetry: a principal is a pseudonym, the same each time, and one that is hashed already stays', () => {
    const { telemetry, lines, last } = recorder();
    telemetry.event('info', 'x', { principal: '557058:1234' });
    const first = last().principal;
    telemetry.event('info', 'x', { principal: '557058:1234' });
    assert.equal(last().principal, first);
    assert.match(first, /^[0-9a-f]{12}$/);
    telemetry.event('info', 'x', { principal: first });
    assert.equal(last().principal, first);
    assert.doesNotMatch(lines.join(), /557058/);
  });

  test('telemetry: a text is shown alike the first time and the next, whatever is in it', () => {
    const { telemetry, lines, last } = recorder();
    const texts = {
      'quotes " and \\ and \n': 'quotes " and \\ and \n',
      'half a pair \ud800, NUL \0': 'half a pair \ud800, NUL \0',
      '0193789a-bcde-7abc-8def-0123456789ab': '0193789a-bcde-7abc-8def-0123456789ab',
      [`${'-'.repeat(35)}"`]: `${'-'.repeat(35)}"`,
      [`see ${JWT}`]: 'see [token]',
      'https://me:hunter2@api.example/': 'https://[user]@api.example/',
      ['x'.repeat(400)]: `${'x'.repeat(300)}…`,
    };
    for (const [text, shown] of [...Object.entries(texts), ...Object.entries(texts)]) {
      telemetry.event('info', 'x', { reason: text, contextId: text });
      assert.equal(last().reason, shown);
      assert.equal(last().contextId, shown);
    }
    assert.ok(lines.every((line) => line.indexOf('\n') === line.length - 1));
  });

  test('telemetry: more texts than are remembered are shown all the same', () => {
    const { telemetry, last } = recorder();
    for (let n = 0; n < 2_500; n += 1) {
      telemetry.event('info', 'x', { contextId: `context ${n}`, principal: `account ${n}` });
      assert.equal(last().contextId, `context ${n}`);
      assert.match(last().principal, /^[0-9a-f]{12}$/);
    }
  });

  test('telemetry: what is no text in the place of a principal is no less a pseudonym', () => {
    const { telemetry, last } = recorder();
    telemetry.event('info', 'x', { principal: 5570581234, count: Number.NaN, bytes: 7, active: false });
    const { principal, count, bytes, active } = last();
    assert.match(principal, /^[0-9a-f]{12}$/);
    assert.deepEqual([count, bytes, active], [null, 7, false]);
  });

  test('telemetry: long texts are cut, loops of causes end, anything may be thrown', () => {
    const { telemetry, last } = recorder();
    telemetry.event('info', 'x', { reason: 'ab '.repeat(5_000) });
    assert.ok(last().reason.length <= 301);
    const loop: Error & { cause?: unknown } = new Error('again');
    loop.cause = loop;
    telemetry.event('error', 'x', {}, loop);
    assert.equal(last().error.cause.message, 'again');
    telemetry.event('error', 'x', {}, 'a text');
    assert.deepEqual(last().error, { type: 'string', message: 'a text' });
  });

  test('telemetry: no field that the code logs by name is dropped', () => {
    const named = new Set<string>();
    for (const text of shippedSources()) {
      for (const [, fields = ''] of text.matchAll(/\.event\(\s*[^,]+,\s*[^,]+,\s*\{([^{}]*)\}/g)) {
        for (const [, name = ''] of fields.matchAll(/(?:^|,)\s*(\w+)\s*(?=[:,]|$)/g)) named.add(name);
      }
    }
    assert.ok(named.size > 5, 'nothing was found: has the form of the calls changed?');
    assert.deepEqual(
      [...named].filter((name) => !LOG_FIELDS.has(name)),
      [],
    );
  });

  test('telemetry: levels below the configured one are not written', () => {
    const { telemetry, lines } = recorder('info');
    telemetry.event('debug', 'x');
    assert.deepEqual(lines, []);
  });
});

/** Sources of the service, for the two lists that have to fit them. */
function shippedSources(): readonly string[] {
  return ['core', 'adapters', 'src'].flatMap((top) =>
    readdirSync(join(ROOT, top), { recursive: true })
      .filter((name) => String(name).endsWith('.ts'))
      .map((name) => readFileSync(join(ROOT, top, String(name)), 'utf8')),
  );
}

describe('metrics', () => {
  test('telemetry: counters and gauges come out in Prometheus form with declared labels only', async () => {
    const { telemetry } = recorder();
    telemetry.count('a2a_messages_accepted_total', { edge: 'rovo', kind: 'create', user: 'alice' });
    telemetry.count('a2a_messages_accepted_total', { edge: 'rovo', kind: 'create' }, 2);
    telemetry.gauge('a2a_executions_waiting', 7);
    const text = await telemetry.metricsText();
    assert.match(text, /^a2a_messages_accepted_total\{edge="rovo",kind="create"\} 3$/m);
    assert.match(text, /^a2a_executions_waiting 7$/m);
    assert.doesNotMatch(text, /alice/);
  });

  test('telemetry: two instances do not share a registry', async () => {
    const [one, two] = [recorder().telemetry, recorder().telemetry];
    one.gauge('a2a_executions_waiting', 7);
    assert.match(await two.metricsText(), /^a2a_executions_waiting 0$/m);
  });

  test('telemetry: a metric nobody declared, or of another type, is said once and breaks nothing', () => {
    const { telemetry, lines } = recorder();
    for (let round = 0; round < 3; round += 1) {
      telemetry.count('a2a_unheard_total');
      telemetry.gauge('a2a_messages_accepted_total', 1);
      telemetry.observe('a2a_executions_waiting', 1);
    }
    assert.equal(lines.length, 3);
  });

  test('metrics: what the code counts and what is declared are the same', () => {
    const counted = new Map<string, string>();
    for (const text of shippedSources()) {
      for (const [, verb = '', metric = ''] of text.matchAll(/\.(count|gauge|observe)\(\s*'(a2a_\w+)'/g)) {
        counted.set(metric, { count: 'counter', gauge: 'gauge', observe: 'histogram' }[verb] ?? verb);
      }
    }
    const declared = Object.entries(METRICS).map(([name, { type }]): [string, string] => [name, type]);
    assert.deepEqual([...counted].sort(), declared.sort());
  });

  test('metrics: names end in a unit and help texts are sentences', () => {
    for (const [name, { type, help }] of Object.entries(METRICS)) {
      assert.match(name, /^a2a_[a-z]+(_[a-z]+)+$/);
      assert.equal(name.endsWith('_total'), type === 'counter', name);
      assert.match(help, /^[A-Z].*\.$/, name);
    }
  });
});
