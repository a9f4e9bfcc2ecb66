import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';

export interface Recorder {
  /** In the order in which they ended. */
  spans(): readonly ReadableSpan[];
  named(name: string): readonly ReadableSpan[];
  reset(): void;
}

/** An SDK for this process that keeps what it gets. Telemetry that is made afterwards finds it. */
export function recordSpans(sampler?: Sampler): Recorder {
  const exporter = new InMemorySpanExporter();
  trace.disable();
  context.disable();
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const options = { spanProcessors: [new SimpleSpanProcessor(exporter)], ...(sampler ? { sampler } : {}) };
  trace.setGlobalTracerProvider(new BasicTracerProvider(options));
  const spans = () => exporter.getFinishedSpans();
  return { spans, named: (name) => spans().filter((span) => span.name === name), reset: () => exporter.reset() };
}

export function parentOf(span: ReadableSpan): string | undefined {
  return span.parentSpanContext?.spanId;
}
