import { isIP, type LookupFunction } from 'node:net';
import { type AddressRange, isAllowedAddress } from './address-ranges.ts';
import { fixedAddresses, HostNotFoundError, type ResolveHost } from './resolve-host.ts';

/** Time limit for resolving the name of a new URL. */
const REGISTRATION_LOOKUP_MS = 5000;

/** This URL may not be connected to. The message says why, and does not reveal what a name resolves to. */
export class AddressRefusedError extends Error {
  override name = 'AddressRefusedError';
}

/** Which protocols may connect to public addresses. The ranges that the operator allows accept both. */
export type PublicProtocols = readonly ['https:'] | readonly ['https:', 'http:'];

/** Decides which URLs of clients may be connected to: when a URL is registered, and again for every connection. */
export class AddressGuard {
  readonly #allowedRanges: readonly AddressRange[];
  readonly #publicProtocols: PublicProtocols;
  readonly #resolveHost: ResolveHost;

  constructor(deps: {
    allowedRanges: readonly AddressRange[];
    publicProtocols: PublicProtocols;
    resolveHost: ResolveHost;
  }) {
    this.#allowedRanges = deps.allowedRanges;
    this.#publicProtocols = deps.publicProtocols;
    this.#resolveHost = deps.resolveHost;
  }

  /** Throws an AddressRefusedError unless this URL may be connected to. A name that does not resolve yet is accepted. */
  async check(url: string): Promise<void> {
    const parsed = readUrl(url, this.#publicProtocols);
    if (!this.#mayBePublic(parsed) && this.#allowedRanges.length === 0) throw this.#refused(parsed);
    try {
      await this.addressesOf(parsed, AbortSignal.timeout(REGISTRATION_LOOKUP_MS));
    } catch (error) {
      if (!(error instanceof HostNotFoundError)) throw error;
    }
  }

  /**
   * The addresses to connect to. Throws an AddressRefusedError when one of them is not allowed, and a HostNotFoundError
   * when the host has none. Connect to these and to no others: the name can resolve differently the next time.
   */
  async addressesOf(url: URL, signal: AbortSignal): Promise<string[]> {
    const host = hostOf(url);
    const addresses = fixedAddresses(host) ?? (await this.#resolveHost(host, signal));
    this.#requireAllowed(url, addresses);
    return addresses;
  }

  /**
   * Checks what can be checked without name servers: throws an AddressRefusedError if the host is an address that is not allowed, or
   * `localhost`.
   */
  checkFixed(url: URL): void {
    this.#requireAllowed(url, fixedAddresses(hostOf(url)) ?? []);
  }

  #requireAllowed(url: URL, addresses: readonly string[]): void {
    const isAllowed = (address: string) =>
      isAllowedAddress(address, url.protocol, this.#allowedRanges, this.#publicProtocols);
    if (!addresses.every(isAllowed)) throw this.#refused(url);
  }

  /** Whether URLs with this protocol may lead to public addresses. */
  #mayBePublic({ protocol }: URL): boolean {
    return this.#publicProtocols.some((allowed) => allowed === protocol);
  }

  #refused(url: URL): AddressRefusedError {
    return new AddressRefusedError(
      this.#mayBePublic(url)
        ? 'must have a public address'
        : 'must begin with https://; http:// is only for addresses that the operator allows',
    );
  }
}

/** The host of a URL; IPv6 addresses without brackets. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/**
 * Parses a URL. The parser normalizes every spelling of an IPv4 address. Throws an AddressRefusedError for a malformed URL, for
 * one with a user name or password, and for other protocols than http and https.
 */
export function readUrl(text: string, publicProtocols: PublicProtocols): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const schemes = publicProtocols.length === 1 ? 'https://' : 'http:// or https://';
    throw new AddressRefusedError(`must be an absolute ${schemes} URL`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new AddressRefusedError('must not contain a user name or password');
  }
  if (url.port === '0') throw new AddressRefusedError('must have a port from 1 to 65535');
  return url;
}

/** Timeout to connect to one address of a host. Then the next address is tried. */
export const CONNECT_ATTEMPT_MS = 2_000;

/** Resolves every name to these addresses: a socket with this lookup connects to no other. */
export function lookupOf(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    const [first] = entries;
    if (options.all || first === undefined) callback(null, entries);
    else callback(null, first.address, first.family);
  };
}
