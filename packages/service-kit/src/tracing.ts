import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Attributes of a span, named by the semantic conventions of OpenTelemetry where these have a name. They leave the system, so they contain
 * ids, counts and codes only: no text of clients, no address with a path or query of a stranger, no message of an error.
 */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Where a request goes. The path is left out, and so are credentials: they may be secret. */
export function serverOf({ hostname, port, protocol }: URL): Attributes {
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}

export type SpanOptions = {
  kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  attributes?: Attributes;
};

/** How a span begins that has no parent in this process. */
export type EntryOptions = SpanOptions & {
  /** The `traceparent` of its parent. Without a valid one, the span begins a trace. */
  parent?: string | null | undefined;
  /** The `traceparent` of a span in another trace. */
  link?: string | undefined;
};

/** A unit of work in a trace. */
export interface Span {
  /** For messages, requests and rows from which the trace continues. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  /** Marks the work as failed. `type` is a code or the name of a class of errors. The first one counts. */
  fail(type: string): void;
  end(): void;
}

/** Makes the spans of one service. */
export interface Tracing {
  start(name: string, options: EntryOptions & { isLocal?: boolean }): Span;
  /** Exports what has ended. Never rejects, and takes at most TRACES_STOP_MS. */
  stop(): Promise<void>;
}

/** Time limit of the export at the end of the process. */
export const TRACES_STOP_MS = 2_500;

/** Where in a trace the current work is. `span` is undefined while it only continues a trace. */
type Place = { tracing: Tracing; traceparent: string; span: Span | undefined };

const places = new AsyncLocalStorage<Place | undefined>();

/** The `traceparent` of the current work, for what continues it later; undefined outside of traces. */
export function activeTraceparent(): string | undefined {
  return places.getStore()?.traceparent;
}

/** The current span; undefined outside of traces. */
export function activeSpan(): Span | undefined {
  return places.getStore()?.span;
}

/** What a log line says about the trace, as OpenTelemetry names it, so that log viewers find the trace; undefined outside of traces. */
export function loggedTrace(): { trace_id: string; span_id: string } | undefined {
  const [, trace_id = '', span_id = ''] = places.getStore()?.traceparent.split('-') ?? [];
  return trace_id === '' ? undefined : { trace_id, span_id };
}

/** Runs work in a span that is a child of the current one. Outside of traces, it just runs the work. */
export function withSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const place = places.getStore();
  if (place === undefined) return work(undefined);
  const { tracing, traceparent: parent } = place;
  return during(tracing, tracing.start(name, { ...options, parent, isLocal: true }), work);
}

/** Runs work in a span that has no parent in this process. Without tracing, it just runs the work. */
export function inEntrySpan<T>(
  tracing: Tracing | undefined,
  name: string,
  options: EntryOptions,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  return tracing === undefined ? work(undefined) : during(tracing, tracing.start(name, options), work);
}

/** Runs work as the continuation of a stored trace, without a span of its own. Without tracing or a trace, it just runs the work. */
export function continueTrace<T>(
  tracing: Tracing | undefined,
  traceparent: string | null | undefined,
  work: () => T,
): T {
  if (tracing === undefined) return work();
  return places.run(traceparent ? { tracing, traceparent, span: undefined } : undefined, work);
}

/** Runs work in a span that the caller ends. */
export function inSpan<T>(tracing: Tracing, span: Span, work: () => T): T {
  return places.run({ tracing, traceparent: span.traceparent, span }, work);
}

/** Runs work outside of traces: periodic work that a traced request has begun, for example. */
export function outsideTraces<T>(work: () => T): T {
  return places.run(undefined, work);
}

async function during<T>(tracing: Tracing, span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await inSpan(tracing, span, () => work(span));
  } catch (error) {
    span.fail(typeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** The code of an error, or else the name of its class. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : error.name;
}
