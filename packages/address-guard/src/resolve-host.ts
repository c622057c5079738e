import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

/** Resolves a host name. Throws a HostNotFoundError when there are no addresses. */
export type ResolveHost = (hostname: string, signal: AbortSignal) => Promise<string[]>;

/** A host name without an address, or whose name servers do not respond. */
export class HostNotFoundError extends Error {
  override name = 'HostNotFoundError';
}

/** The addresses of a host that has the same ones everywhere: of an address or `localhost`. Undefined for other names. */
export function fixedAddresses(hostname: string): string[] | undefined {
  if (isIP(hostname) !== 0) return [hostname];
  // Always loopback (RFC 6761 §6.3), and often unknown to name servers.
  return /(^|\.)localhost\.?$/i.test(hostname) ? ['127.0.0.1', '::1'] : undefined;
}

/**
 * Queries the name servers directly. The system's resolver runs in libuv's thread pool, where a few names with silent
 * servers would block all lookups of the process.
 */
export const resolveHost: ResolveHost = async (hostname, signal) => {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const results = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    if (addresses.length === 0) throw new HostNotFoundError(`${hostname} has no address`);
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};
