import { appendFileSync } from 'node:fs';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ExportedSpan } from './span-file.ts';

/*
 * Loaded before the program: registers an SDK as an operator would, with a file in the place of a collector. A line is
 * written whole when its span ends, so a process that is killed leaves what it had finished.
 */

function exported(span: ReadableSpan): ExportedSpan & { readonly events: unknown; readonly message: unknown } {
  const { traceId, spanId } = span.spanContext();
  const { parentSpanContext, attributes, status, events } = span;
  return {
    ...{ name: span.name, kind: span.kind, traceId, spanId, pid: process.pid },
    ...(parentSpanContext ? { parentSpanId: parentSpanContext.spanId } : {}),
    attributes: attributes as ExportedSpan['attributes'],
    error: status.code === 2,
    // Nothing should be here. It is written all the same, to be found by whoever looks for what must not be.
    ...{ events, message: status.message },
  };
}

const path = process.env.SPANS_FILE;
if (path === undefined) throw new Error('SPANS_FILE is not set');
const processor = new SimpleSpanProcessor({
  export(spans, done) {
    for (const span of spans) appendFileSync(path, `${JSON.stringify(exported(span))}\n`);
    done({ code: 0 });
  },
  shutdown: async () => {},
});
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [processor] }));
