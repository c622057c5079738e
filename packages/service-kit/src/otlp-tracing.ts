import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  type Span as ApiSpan,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import pTimeout from 'p-timeout';
import type { Logger } from './logger.ts';
import type { SamplerName, TraceSettings } from './trace-settings.ts';
import { readTraceparent, writeTraceparent } from './traceparent.ts';
import {
  type Attributes,
  type EntryOptions,
  outsideTraces,
  type Span,
  TRACES_STOP_MS,
  type Tracing,
} from './tracing.ts';
import { VERSION } from './version.ts';

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/** Exports the spans of a service in batches by OTLP. Spans that a collector does not take in time are dropped: at most 2048 wait. */
export class OtlpTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;

  constructor(service: string, { url, sampler, ratio }: TraceSettings, logger: Logger) {
    this.#provider = new TracerProvider({
      resource: resourceOf(service),
      sampler: samplerOf(sampler, ratio),
      spanProcessors: [
        new BatchSpanProcessor({ exporter: reporting(new OTLPTraceExporter({ url }), url, logger) }),
      ],
    });
    this.#tracer = this.#provider.getTracer('framelane', VERSION);
  }

  start(
    name: string,
    {
      kind = 'internal',
      attributes = {},
      parent,
      link,
      isLocal = false,
    }: EntryOptions & { isLocal?: boolean },
  ): Span {
    const parentContext = contextOf(parent, !isLocal);
    const linked = contextOf(link, true);
    const links: Link[] = linked ? [{ context: linked }] : [];
    const context = parentContext ? trace.setSpanContext(ROOT_CONTEXT, parentContext) : ROOT_CONTEXT;
    return new OtlpSpan(this.#tracer.startSpan(name, { kind: KINDS[kind], attributes, links }, context));
  }

  async stop(): Promise<void> {
    // The exporter has logged why it failed.
    await pTimeout(this.#provider.shutdown(), { milliseconds: 0.8 * TRACES_STOP_MS }).catch(() => {});
  }
}

class OtlpSpan implements Span {
  readonly traceparent: string;
  readonly #span: ApiSpan;
  #hasFailed = false;

  constructor(span: ApiSpan) {
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.#span = span;
    const isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
    this.traceparent = writeTraceparent({ traceId, spanId, isSampled });
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  fail(type: string): void {
    // The innermost work knows best why.
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#span.setAttribute('error.type', type);
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
  }

  end(): void {
    // The export of a batch begins here, and is no part of this trace.
    outsideTraces(() => this.#span.end());
  }
}

function contextOf(text: string | null | undefined, isRemote: boolean): SpanContext | undefined {
  const parent = readTraceparent(text);
  if (parent === undefined) return undefined;
  const { traceId, spanId, isSampled } = parent;
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote };
}

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES replace the attributes of the same name. */
function resourceOf(service: string): Resource {
  return defaultResource()
    .merge(
      resourceFromAttributes({
        'service.namespace': 'framelane',
        'service.name': `framelane-${service}`,
        'service.version': VERSION,
        'service.instance.id': randomUUID(),
        'host.name': hostname(),
        'process.pid': process.pid,
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
}

function samplerOf(name: SamplerName, ratio: number): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}

/** Logs when exports begin to fail, and when they succeed again. */
function reporting(exporter: SpanExporter, url: string, logger: Logger): SpanExporter {
  const { host } = new URL(url);
  let failing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const failed = result.code !== 0;
        if (failed) {
          // One warning is enough for an outage.
          logger.log(failing ? 'debug' : 'warn', 'traces.not_exported', {
            host,
            lostSpans: spans.length,
            error: result.error,
          });
        } else if (failing) logger.info('traces.exported_again', { host });
        failing = failed;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
