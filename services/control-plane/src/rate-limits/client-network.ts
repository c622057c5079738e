import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/** The addresses of a request. */
type Addresses = Pick<Request, 'ip'> & { socket: Pick<Request['socket'], 'remoteAddress'> };

/**
 * The network whose limits a request counts against: the IPv4 address of the client, or the /64 network of its IPv6
 * address, which belongs to one subscriber (RFC 6177 §2). A trusted proxy names the client.
 */
export function clientNetwork({ ip, socket }: Addresses): string {
  const text = [ip, socket.remoteAddress].find((address) => address !== undefined && ipaddr.isValid(address));
  if (text === undefined) return 'unknown';
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const network = new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0]);
  return `${network}/64`;
}
