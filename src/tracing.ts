import { type Context, context, isSpanContextValid, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import { isDomainError } from '../core/errors.ts';
import { type LogFields, type Telemetry, withoutSpan } from '../core/ports/telemetry.ts';
import { shownField } from './log-record.ts';
import { SPANS } from './spans.ts';
import { spanContextOf, traceparentOf } from './trace-context.ts';
import { packageVersion } from './version.ts';

/*
 * Spans through OpenTelemetry's API. Who records and exports them is not our business: whoever starts the process may
 * register an SDK before it (`node --import`). Without one nothing of this runs, the work is called as it is.
 * A span holds what a line of the log may hold, by the same list, and no error texts: a message may quote anything.
 */

const NAME = 'rovo-a2a-connector';
/** Refusals are answers, not faults. */
const FAULTS: ReadonlySet<string> = new Set(['INTERNAL', 'STORE_UNAVAILABLE']);

/** Looks once whether there is an SDK. */
export function createTracing(): Telemetry['span'] {
  const tracer = trace.getTracer(NAME, packageVersion);
  // The API has no question for it. Its own tracer makes spans that are in no trace.
  const probe = tracer.startSpan('probe', { root: true });
  if (!isSpanContextValid(probe.spanContext())) return withoutSpan;

  return async (name, { fields, parent }, work) => {
    const surrounding = parent === undefined ? context.active() : within(parent);
    const kind = SPANS[name]?.kind;
    const span = tracer.startSpan(name, kind === undefined ? {} : { kind }, surrounding);
    if (fields && span.isRecording()) describe(span, fields());
    const own = { traceparent: traceparentOf(span.spanContext()), set: (more: LogFields) => describe(span, more) };
    try {
      return await context.with(trace.setSpan(surrounding, span), () => work(own));
    } catch (error) {
      fail(span, error);
      throw error;
    } finally {
      span.end();
    }
  };
}

function within(parent: string): Context {
  const active = context.active();
  const remote = spanContextOf(parent);
  if (remote === undefined || trace.getSpanContext(active)?.traceId === remote.traceId) return active;
  return trace.setSpanContext(active, remote);
}

function describe(span: Span, fields: LogFields): void {
  if (!span.isRecording()) return;
  for (const [name, value] of Object.entries(fields)) {
    // The span is in it already.
    const shown = name === 'trace' || value === undefined ? undefined : shownField(name, value);
    if (shown !== undefined) span.setAttribute(name, shown);
  }
}

function fail(span: Span, error: unknown): void {
  const code = isDomainError(error) ? error.code : 'INTERNAL';
  span.setAttribute('code', code);
  if (FAULTS.has(code)) span.setStatus({ code: SpanStatusCode.ERROR });
}
