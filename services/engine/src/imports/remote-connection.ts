import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type TcpNetConnectOpts } from 'node:net';
import {
  type AddressGuard,
  AddressRefusedError,
  CONNECT_ATTEMPT_MS,
  lookupOf,
  readUrl,
} from '@framelane/address-guard/address-guard';
import { ImportFailure } from './import-failure.ts';

const MAX_REDIRECTS = 5;

const REDIRECTS = [301, 302, 303, 307, 308];

const OWN_HEADERS = { 'user-agent': 'Framelane-Import/1.0' };

/** Where the file is, and the headers for the origin of the URL. */
export type RemoteSource = { url: string; headers: Readonly<Record<string, string>> };

export type ConnectionDeps = {
  guard: AddressGuard;
  /** Time limits: for the connection, TLS included, and from then on for the response headers. */
  limits: { connectSeconds: number; headSeconds: number };
  signal: AbortSignal;
};

/** Node passes options that it does not know to the socket. */
type GetOptions = RequestOptions & Pick<TcpNetConnectOpts, 'autoSelectFamilyAttemptTimeout'>;

/**
 * Requests the file and follows redirects. The guard checks the addresses of each hop, and the socket connects to these addresses.
 * Resolves with the first response that is no redirect; the caller consumes or destroys it.
 */
export async function openRemote(
  source: RemoteSource,
  rangeHeaders: Readonly<Record<string, string>>,
  deps: ConnectionDeps,
): Promise<IncomingMessage> {
  let url = readUrl(source.url, ['https:', 'http:']);
  const { origin } = url;
  // Of headers whose names differ only in case, Node sends the last one.
  let headers: Record<string, string> = { ...OWN_HEADERS, ...source.headers };
  for (let redirects = 0; ; redirects += 1) {
    const response = await get(url, { ...headers, ...rangeHeaders, 'accept-encoding': 'identity' }, deps);
    if (!REDIRECTS.includes(response.statusCode ?? 0)) return response;
    response.destroy();
    if (redirects === MAX_REDIRECTS) throw new ImportFailure('import_redirected');
    url = redirectTarget(url, response.headers.location);
    // The headers are not sent again, even if a redirect leads back to the first origin: another server chose that URL.
    if (url.origin !== origin) headers = OWN_HEADERS;
  }
}

function redirectTarget(from: URL, location: string | undefined): URL {
  let target: URL;
  try {
    target = readUrl(new URL(location ?? '', from).href, ['https:', 'http:']);
  } catch {
    // The cause is omitted, because it contains the query of the URL.
    throw new ImportFailure('import_redirected');
  }
  const isDowngrade = from.protocol === 'https:' && target.protocol === 'http:';
  if (location === undefined || isDowngrade) throw new ImportFailure('import_redirected');
  return target;
}

/**
 * The failure for a host without an allowed address. A name that resolves to a forbidden address fails like one that does not resolve:
 * otherwise clients could find out which names exist in the network of the engine.
 */
function toLookupFailure({ hostname }: URL, error: unknown): unknown {
  const isName = isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
  return isName && error instanceof AddressRefusedError
    ? new ImportFailure('import_host_not_found', { retryable: true, cause: error })
    : error;
}

async function get(
  url: URL,
  headers: Record<string, string>,
  { guard, limits, signal }: ConnectionDeps,
): Promise<IncomingMessage> {
  const lookupSignal = AbortSignal.any([signal, AbortSignal.timeout(limits.connectSeconds * 1000)]);
  const addresses = await guard.addressesOf(url, lookupSignal).catch((error: unknown) => {
    throw toLookupFailure(url, error);
  });
  signal.throwIfAborted();
  const options: GetOptions = {
    headers,
    signal,
    // No agent: it would reuse connections, and the guard must check the address of each one. It could also use a proxy.
    agent: false,
    lookup: lookupOf(addresses),
    autoSelectFamilyAttemptTimeout: CONNECT_ATTEMPT_MS,
  };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const isTls = url.protocol === 'https:';
  const request = (isTls ? httpsRequest : httpRequest)(url, options);
  const limit = (seconds: number, code: 'import_unreachable' | 'import_timed_out') =>
    setTimeout(() => request.destroy(new ImportFailure(code, { retryable: true })), seconds * 1000);
  let timer = limit(limits.connectSeconds, 'import_unreachable');
  request.once('socket', (socket) => {
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      timer = limit(limits.headSeconds, 'import_timed_out');
    });
  });
  request.once('response', (response) => {
    // Errors of the body reach its reader. An error of a response without a reader must not end the process.
    response.on('error', () => {});
    clearTimeout(timer);
    resolve(response);
  });
  request.on('error', reject);
  request.once('close', () => {
    clearTimeout(timer);
    // Node closes the connection without an error when the server switches protocols (101). Has no effect after a response.
    reject(new Error('The connection closed without a response'));
  });
  request.end();
  return promise;
}
