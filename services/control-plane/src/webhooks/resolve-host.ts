import { Resolver } from 'node:dns/promises';

/** Finds the addresses of a host. Throws a HostNotFoundError when there are none. */
export type ResolveHost = (hostname: string, signal: AbortSignal) => Promise<string[]>;

/** A host name without an address, or one whose name servers do not answer. */
export class HostNotFoundError extends Error {
  override name = 'HostNotFoundError';
}

/**
 * Asks the name servers directly. The system's resolver would work in libuv's thread pool, where a few names whose
 * servers never answer keep the look-ups of the whole process waiting, the object store's too.
 */
export const resolveHost: ResolveHost = async (hostname, signal) => {
  // Loopback by definition, and often unknown to name servers (RFC 6761 §6.3).
  if (/(^|\.)localhost\.?$/i.test(hostname)) return ['127.0.0.1', '::1'];
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0) throw new HostNotFoundError(`${hostname} has no address`);
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};
