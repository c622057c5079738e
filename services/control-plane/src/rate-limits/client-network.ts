import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/** What tells where a request comes from. */
type Asker = Pick<Request, 'ip'> & { socket: Pick<Request['socket'], 'remoteAddress'> };

/**
 * Whom a request is held against: the IPv4 address of the client, or the /64 network of its IPv6 address, of which a single
 * subscriber has all addresses (RFC 6177 §2). Behind a proxy that is trusted, it is the client the proxy names.
 */
export function clientNetwork({ ip, socket }: Asker): string {
  const text = [ip, socket.remoteAddress].find((address) => address !== undefined && ipaddr.isValid(address));
  if (text === undefined) return 'unknown';
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const network = new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0]);
  return `${network}/64`;
}
