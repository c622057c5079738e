/** The part of a span that its children know: W3C Trace Context, https://www.w3.org/TR/trace-context/. */
export type TraceParent = { traceId: string; spanId: string; isSampled: boolean };

/** Later versions may append fields, which are ignored (§4.3 of the recommendation). Version ff is invalid. */
const TRACEPARENT =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.{0,200})?$/;

/** Reads a `traceparent`. Undefined if it is missing or invalid: then a new trace begins. */
export function readTraceparent(text: string | null | undefined): TraceParent | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(text ?? '') ?? [];
  if (version === undefined || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function writeTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}
