import { scrubbed } from './shown-text.ts';

/** The headers of requests that are stored. None can have a credential; an Idempotency-Key is only stored as a hash elsewhere. */
const REQUEST = [
  ...['accept', 'accept-encoding', 'content-encoding', 'content-length', 'content-type', 'if-none-match'],
  ...['range', 'traceparent', 'user-agent', 'x-framelane-environment', 'x-request-id', 'x-svc-workspace'],
];

const RESPONSE = [
  ...['allow', 'cache-control', 'content-length', 'content-range', 'content-type', 'etag'],
  ...['idempotency-replayed', 'ratelimit', 'ratelimit-policy', 'retry-after', 'x-request-id'],
];

type Headers = Readonly<Record<string, number | string | readonly string[] | undefined>>;

export function loggedRequestHeaders(headers: Headers): Record<string, string> {
  return only(REQUEST, headers);
}

export function loggedResponseHeaders(headers: Headers): Record<string, string> {
  return only(RESPONSE, headers);
}

function only(names: readonly string[], headers: Headers): Record<string, string> {
  const present = names.filter((name) => headers[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, scrubbed(String(headers[name]), 300)]));
}
