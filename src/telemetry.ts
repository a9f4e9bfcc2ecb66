import pino, { type DestinationStream, type Level as PinoLevel } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Labels, Telemetry } from '../core/ports/telemetry.ts';
import { createLogLines, type LogLines } from './log-lines.ts';
import { logRecord } from './log-record.ts';
import { METRICS, type MetricDefinition } from './metrics.ts';
import { createTracing } from './tracing.ts';

export interface TelemetryOptions {
  readonly level: PinoLevel | 'silent';
  /** Where lines of JSON go, at once unless it defers. Default: standard output. */
  readonly destination?: DestinationStream & Partial<Pick<LogLines, 'defer'>>;
  /** Also memory, CPU and event loop of the process. */
  readonly processMetrics?: boolean;
}

export interface ServiceTelemetry extends Telemetry {
  /** The metrics in Prometheus' text format. */
  metricsText(): Promise<string>;
  readonly metricsContentType: string;
}

type Instrument =
  | { readonly type: 'counter'; readonly labels: readonly string[]; readonly metric: Counter }
  | { readonly type: 'gauge'; readonly labels: readonly string[]; readonly metric: Gauge }
  | { readonly type: 'histogram'; readonly labels: readonly string[]; readonly metric: Histogram };

/** Logs with pino, counts with prom-client, traces where an SDK was registered before. Nothing in here ever throws at its caller. */
export function createTelemetry(options: TelemetryOptions): ServiceTelemetry {
  const lines = options.destination ?? createLogLines();
  const log = pino(
    { level: options.level, base: null, timestamp: false, formatters: { level: (level) => ({ level }) } },
    lines,
  );
  const registry = new Registry();
  if (options.processMetrics) collectDefaultMetrics({ register: registry });
  const instruments = new Map(
    Object.entries(METRICS).map(([name, entry]) => [name, instrument(name, entry, registry)]),
  );
  const reported = new Set<string>();

  /** A metric that nobody declared, or used as what it is not, is a fault of ours: said once, then ignored. */
  function report(name: string): void {
    if (reported.has(name)) return;
    reported.add(name);
    telemetry.event('warn', 'telemetry.metric_unknown', { metric: name });
  }

  const telemetry: ServiceTelemetry = {
    event(level, name, fields = {}, error = undefined) {
      if (!log.isLevelEnabled(level)) return;
      const time = isoTime();
      const line = (): void => {
        try {
          log[level](logRecord({ time, event: name }, fields, error));
        } catch {
          // Whoever logs is often handling a failure already, and gets no second one from here.
          log.error({ time, event: 'telemetry.event_failed' });
        }
      };
      // What comes with an error is written down as it is now.
      if (lines.defer && error === undefined) lines.defer(line);
      else line();
      // Whatever went wrong may take the process with it.
      if (level === 'error') log.flush();
    },
    count(name, labels = {}, by = 1) {
      const found = instruments.get(name);
      if (found?.type === 'counter' && by >= 0) found.metric.inc(known(found.labels, labels), by);
      else report(name);
    },
    gauge(name, value, labels = {}) {
      const found = instruments.get(name);
      if (found?.type === 'gauge') found.metric.set(known(found.labels, labels), value);
      else report(name);
    },
    observe(name, value, labels = {}) {
      const found = instruments.get(name);
      if (found?.type === 'histogram') found.metric.observe(known(found.labels, labels), value);
      else report(name);
    },
    span: createTracing(),
    metricsText: () => registry.metrics(),
    metricsContentType: registry.contentType,
  };
  return telemetry;
}

let lastMs = Number.NaN;
let lastTime = '';

/** Now, made once for all lines of a millisecond. */
function isoTime(): string {
  const now = Date.now();
  if (now !== lastMs) {
    lastMs = now;
    lastTime = new Date(now).toISOString();
  }
  return lastTime;
}

/** Declared labels only, each present: an undeclared one would make prom-client throw. */
function known(names: readonly string[], labels: Labels): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const name of names) shown[name] = labels[name] ?? '';
  return shown;
}

function instrument(name: string, entry: MetricDefinition, registry: Registry): Instrument {
  const options = { name, help: entry.help, labelNames: [...entry.labels], registers: [registry] };
  if (entry.type === 'counter') return { type: 'counter', labels: entry.labels, metric: new Counter(options) };
  if (entry.type === 'gauge') return { type: 'gauge', labels: entry.labels, metric: new Gauge(options) };
  const metric = new Histogram({ ...options, ...(entry.buckets && { buckets: [...entry.buckets] }) });
  return { type: 'histogram', labels: entry.labels, metric };
}
