import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { checkPublicHost, publicLookup } from './public-address.ts';
import { TransferError } from './transfer-error.ts';

/** A connection without data for this long is dead. */
const IDLE_TIMEOUT_MS = 60_000;
const MAX_REDIRECTS = 5;

export type CheckedRequest = {
  method?: 'GET' | 'POST' | 'PUT';
  headers?: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
  /** Host names that the user has named: they may be in a private network. `all` trusts every host. */
  trustedHosts: ReadonlySet<string> | 'all';
};

/**
 * Sends a request for a URL that a service has named, and resolves with the response as soon as its headers arrive. Follows up to five
 * redirects of a GET, but not from https to http, and not into a private network. A redirect to another origin loses the headers, which may
 * have a secret. Throws a TransferError without a response.
 */
export async function checkedRequest(url: string, request: CheckedRequest): Promise<IncomingMessage> {
  let target = readUrl(url);
  let { headers = {} } = request;
  for (let redirects = 0; ; redirects += 1) {
    const response = await send(target, { ...request, headers });
    const location = locationOf(response);
    if (location === undefined) return response;
    response.destroy();
    if ((request.method ?? 'GET') !== 'GET' || redirects === MAX_REDIRECTS)
      throw new TransferError(`${target.host} redirects the request again and again, or without need.`);
    const next = readUrl(location, target);
    if (target.protocol === 'https:' && next.protocol === 'http:')
      throw new TransferError(
        `${target.host} redirects from https to http, where others could change the file.`,
      );
    if (next.origin !== target.origin) headers = {};
    target = next;
  }
}

/** Throws for everything except http and https without user name. */
export function readUrl(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base?.href) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.username || url.password)
    throw new TransferError(
      'The service names a place that is not a URL of a web server without a password.',
    );
  return url;
}

function locationOf({ statusCode = 0, headers: { location } }: IncomingMessage): string | undefined {
  return [301, 302, 303, 307, 308].includes(statusCode) ? location : undefined;
}

async function send(
  url: URL,
  { method = 'GET', headers, body, signal, trustedHosts }: CheckedRequest,
): Promise<IncomingMessage> {
  const trusted = trustedHosts === 'all' || trustedHosts.has(url.hostname);
  if (!trusted) checkPublicHost(url);
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      headers: { 'Accept-Encoding': 'identity', ...headers },
      signal,
      ...(!trusted && { lookup: publicLookup }),
    });
    sent.setTimeout(IDLE_TIMEOUT_MS, () => sent.destroy(new Error('No data for a minute')));
    sent.on('response', resolve);
    sent.on('error', (error) => reject(brokenConnection(url.host, error)));
    sent.end(body);
  });
}

/** The error of a connection that broke before or during a response. */
export function brokenConnection(host: string, cause: Error): TransferError {
  if (cause instanceof TransferError) return cause;
  return new TransferError(`${host} sends no complete response (${cause.message}). Try again later.`, {
    temporary: true,
    cause,
  });
}
