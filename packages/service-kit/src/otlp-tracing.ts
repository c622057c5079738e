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
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  type SpanProcessor,
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

/** Spans that wait for their export. */
const MAX_WAITING = 2048;

/** Exports the spans of a service in batches by OTLP. Spans that a collector does not take in time are dropped: at most MAX_WAITING wait. */
export class OtlpTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #reports: ExportReports;

  constructor(service: string, { url, sampler, ratio }: TraceSettings, logger: Logger) {
    this.#reports = new ExportReports(new URL(url).host, logger);
    this.#provider = new TracerProvider({
      resource: resourceOf(service),
      sampler: samplerOf(sampler, ratio),
      spanProcessors: [
        this.#reports,
        new BatchSpanProcessor({
          exporter: reporting(new OTLPTraceExporter({ url }), this.#reports),
          maxQueueSize: MAX_WAITING,
        }),
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
    await pTimeout(this.#provider.shutdown(), { milliseconds: 0.8 * TRACES_STOP_MS }).catch(
      (error: unknown) => this.#reports.stopped(error),
    );
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

type ExportResult = Parameters<Parameters<SpanExporter['export']>[1]>[0];

/** Logs when spans begin to be lost, and when none are lost any more. */
class ExportReports implements SpanProcessor {
  #waiting = 0;
  #sent = 0;
  #isLosing = false;
  readonly #host: string;
  readonly #logger: Logger;

  constructor(host: string, logger: Logger) {
    this.#host = host;
    this.#logger = logger;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0) this.#waiting += 1;
  }

  /** A batch leaves the queue, which has dropped what was too much for it. */
  taken(spans: number): void {
    const dropped = Math.max(0, this.#waiting - MAX_WAITING);
    this.#waiting -= dropped + spans;
    this.#sent += spans;
    if (dropped > 0) this.#lost(dropped, new Error('The collector takes fewer spans than there are'));
  }

  /** The collector has responded to a batch, or will not. */
  ended(spans: number, { code, error }: ExportResult): void {
    this.#sent -= spans;
    if (code !== 0) this.#lost(spans, error);
    else if (this.#isLosing && this.#waiting <= MAX_WAITING) {
      this.#isLosing = false;
      this.#logger.info('traces.exported_again', { host: this.#host });
    }
  }

  /** The export at the end of the process did not end in time. */
  stopped(error: unknown): void {
    this.#lost(this.#waiting + this.#sent, error);
  }

  /** One warning is enough for an outage. */
  #lost(lostSpans: number, error: unknown): void {
    const level = this.#isLosing ? 'debug' : 'warn';
    this.#isLosing = true;
    this.#logger.log(level, 'traces.not_exported', { host: this.#host, lostSpans, error });
  }

  async shutdown(): Promise<void> {}

  async forceFlush(): Promise<void> {}
}

function reporting(exporter: SpanExporter, reports: ExportReports): SpanExporter {
  return {
    export: (spans, done) => {
      reports.taken(spans.length);
      exporter.export(spans, (result) => {
        reports.ended(spans.length, result);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
