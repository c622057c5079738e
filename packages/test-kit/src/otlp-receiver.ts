import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { bytesOf, fieldsOf, numberOf, textOf } from './protobuf.ts';

export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentSpanId: string;
  /** Whether the parent is a span of another service. */
  hasRemoteParent: boolean;
  name: string;
  kind: string;
  /** Unix time in nanoseconds. */
  startedAt: bigint;
  endedAt: bigint;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  isError: boolean;
  /** Text that the span shows beside its attributes. */
  statusMessage: string;
  events: number;
  /** The attributes of the service. */
  resource: Record<string, unknown>;
};

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const STATUS_ERROR = 2;
const PARENT_IS_REMOTE = 0x200n;

/** A collector that keeps the spans of OpenTelemetry exporters (OTLP over HTTP, in protobuf). */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** The headers of each export. */
  readonly requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  /** The bytes of all exports. */
  readonly bodies: Buffer[] = [];
  /** The status of the responses. A response that is not 200 takes no spans. */
  status = 200;
  readonly #server: Server;

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  private constructor() {
    this.#server = createServer(async (req, res) => {
      this.requests.push({ path: req.url ?? '', headers: req.headers });
      const body = await buffer(req);
      if (this.status === 200) {
        this.bodies.push(body);
        this.spans.push(...readExport(body));
      }
      // An empty ExportTraceServiceResponse: all spans were accepted.
      res.writeHead(this.status, { 'content-type': 'application/x-protobuf' }).end();
    });
  }

  /** A value of OTEL_EXPORTER_OTLP_ENDPOINT. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The spans of a trace as indented lines, each with the name of its service. The oldest child comes first. */
  tree(traceId: string, describe: (span: ReceivedSpan) => string = ({ name }) => name): string {
    const spans = this.spans.filter((span) => span.traceId === traceId);
    spans.sort((a, b) => Number(a.startedAt - b.startedAt));
    const known = new Set(spans.map(({ spanId }) => spanId));
    const below = (parent: ReceivedSpan | undefined, indent: string): string[] =>
      spans
        .filter(({ parentSpanId }) =>
          parent === undefined ? !known.has(parentSpanId) : parentSpanId === parent.spanId,
        )
        .flatMap((span) => [`${indent}${describe(span)}`, ...below(span, `${indent}  `)]);
    return below(undefined, '').join('\n');
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** The spans of an `ExportTraceServiceRequest`. Numbers are those of opentelemetry/proto/trace/v1/trace.proto. */
function readExport(body: Buffer): ReceivedSpan[] {
  return bytesOf(fieldsOf(body), 1).flatMap((resourceSpans) => {
    const fields = fieldsOf(resourceSpans);
    const resource = Object.assign({}, ...bytesOf(fields, 1).map((bytes) => attributesOf(bytes, 1)));
    return bytesOf(fields, 2).flatMap((scopeSpans) =>
      bytesOf(fieldsOf(scopeSpans), 2).map((span) => readSpan(span, resource)),
    );
  });
}

function readSpan(bytes: Buffer, resource: Record<string, unknown>): ReceivedSpan {
  const fields = fieldsOf(bytes);
  const hex = (number: number) => bytesOf(fields, number)[0]?.toString('hex') ?? '';
  const status = fieldsOf(bytesOf(fields, 15)[0] ?? Buffer.alloc(0));
  return {
    traceId: hex(1),
    spanId: hex(2),
    parentSpanId: hex(4),
    hasRemoteParent: (numberOf(fields, 16) & PARENT_IS_REMOTE) !== 0n,
    name: textOf(fields, 5),
    kind: KINDS[Number(numberOf(fields, 6))] ?? '',
    startedAt: numberOf(fields, 7),
    endedAt: numberOf(fields, 8),
    attributes: attributesOf(bytes, 9),
    links: bytesOf(fields, 13).map((link) => {
      const [traceId, spanId] = [1, 2].map((number) => bytesOf(fieldsOf(link), number)[0]);
      return { traceId: traceId?.toString('hex') ?? '', spanId: spanId?.toString('hex') ?? '' };
    }),
    isError: Number(numberOf(status, 3)) === STATUS_ERROR,
    statusMessage: textOf(status, 2),
    events: bytesOf(fields, 11).length,
    resource,
  };
}

function attributesOf(bytes: Buffer, number: number): Record<string, unknown> {
  const pairs = bytesOf(fieldsOf(bytes), number).map((pair) => {
    const fields = fieldsOf(pair);
    return [textOf(fields, 1), attributeValueOf(bytesOf(fields, 2)[0] ?? Buffer.alloc(0))];
  });
  return Object.fromEntries(pairs);
}

/** An `AnyValue`: a text, a boolean, or a whole number. Others are returned as their bytes. */
function attributeValueOf(bytes: Buffer): unknown {
  const [field] = fieldsOf(bytes);
  switch (field?.number) {
    case 1:
      return (field.value as Buffer).toString('utf8');
    case 2:
      return field.value === 1n;
    case 3:
      return Number(field.value);
    default:
      return field?.value;
  }
}
