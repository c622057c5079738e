import { isIP } from 'node:net';
import { type AddressRange, isAllowedAddress } from './endpoint-addresses.ts';
import { HostNotFoundError, type ResolveHost } from './resolve-host.ts';

/** How long the look-up of a new receiver's name may take. */
const REGISTRATION_LOOKUP_MS = 5000;

/** An address events are not sent to. The message says what is wrong, never what a name stands for. */
export class EndpointRefusedError extends Error {
  override name = 'EndpointRefusedError';
}

/** Decides where events may be sent: when a webhook is registered, and again for every connection. */
export class EndpointGuard {
  readonly #allowedRanges: readonly AddressRange[];
  readonly #resolveHost: ResolveHost;

  constructor(deps: { allowedRanges: readonly AddressRange[]; resolveHost: ResolveHost }) {
    this.#allowedRanges = deps.allowedRanges;
    this.#resolveHost = deps.resolveHost;
  }

  /** Refuses an address that cannot be a receiver with a EndpointRefusedError. A name may still be unknown. */
  async check(url: string): Promise<void> {
    const receiver = readUrl(url);
    if (receiver.protocol === 'http:' && this.#allowedRanges.length === 0) throw refused(receiver);
    try {
      await this.addressesOf(receiver, AbortSignal.timeout(REGISTRATION_LOOKUP_MS));
    } catch (error) {
      if (!(error instanceof HostNotFoundError)) throw error;
    }
  }

  /**
   * The addresses to connect to. Throws a EndpointRefusedError when any of them is not for events, and a
   * HostNotFoundError when there is none. A name may stand for something else by the next time: connect to these.
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
      ? 'must be an address on the public internet'
      : 'must begin with https://; http:// is only for addresses the operator has allowed',
  );
}

/** Reads the address of a receiver; the parser turns every spelling of an IPv4 address into the usual one. */
function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new EndpointRefusedError('must be an absolute https:// address');
  }
  if (url.username !== '' || url.password !== '') {
    throw new EndpointRefusedError('must not carry a user name or password');
  }
  if (url.port === '0') throw new EndpointRefusedError('must name a port from 1 to 65535');
  return url;
}
