import { isIP } from 'node:net';
import { type AddressRange, isAllowedAddress } from './endpoint-addresses.ts';
import { HostNotFoundError, type ResolveHost } from './resolve-host.ts';

/** Time limit for resolving the name of a new endpoint. */
const REGISTRATION_LOOKUP_MS = 5000;

/** Events may not be sent to this URL. The message says why, and does not reveal what a name resolves to. */
export class EndpointRefusedError extends Error {
  override name = 'EndpointRefusedError';
}

/** Decides which URLs events may be sent to: when an endpoint is registered, and again for every connection. */
export class EndpointGuard {
  readonly #allowedRanges: readonly AddressRange[];
  readonly #resolveHost: ResolveHost;

  constructor(deps: { allowedRanges: readonly AddressRange[]; resolveHost: ResolveHost }) {
    this.#allowedRanges = deps.allowedRanges;
    this.#resolveHost = deps.resolveHost;
  }

  /** Throws an EndpointRefusedError unless events may be sent to this URL. A name that does not resolve yet is accepted. */
  async check(url: string): Promise<void> {
    const parsed = readUrl(url);
    if (parsed.protocol === 'http:' && this.#allowedRanges.length === 0) throw refused(parsed);
    try {
      await this.addressesOf(parsed, AbortSignal.timeout(REGISTRATION_LOOKUP_MS));
    } catch (error) {
      if (!(error instanceof HostNotFoundError)) throw error;
    }
  }

  /**
   * The addresses to connect to. Throws an EndpointRefusedError when one of them is not allowed, and a HostNotFoundError
   * when there are none. Connect to these and to no others: the name can resolve differently the next time.
   */
  async addressesOf(url: URL, signal: AbortSignal): Promise<string[]> {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const addresses = isIP(host) === 0 ? await this.#resolveHost(host, signal) : [host];
    if (!addresses.every((address) => isAllowedAddress(address, url.protocol, this.#allowedRanges))) {
      throw refused(url);
    }
    return addresses;
  }
}

function refused(url: URL): EndpointRefusedError {
  return new EndpointRefusedError(
    url.protocol === 'https:'
      ? 'must have a public address'
      : 'must begin with https://; http:// is only for addresses that the operator allows',
  );
}

/** Parses a URL. The parser normalizes every spelling of an IPv4 address. */
function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new EndpointRefusedError('must be an absolute https:// URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw new EndpointRefusedError('must not contain a user name or password');
  }
  if (url.port === '0') throw new EndpointRefusedError('must have a port from 1 to 65535');
  return url;
}
