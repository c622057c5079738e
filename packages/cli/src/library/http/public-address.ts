import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { TransferError } from './transfer-error.ts';

/** Whether an IP address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.process(address).range() === 'unicast';
}

/** Throws if the host of a URL is an address that is not public. Names are checked when they are resolved: see `publicLookup`. */
export function checkPublicHost({ hostname }: URL): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw notPublic(host);
}

/** Resolves a name, and refuses it if one of its addresses is not public. The socket connects to exactly these addresses. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '');
    if (!addresses.every(({ address }) => isPublicAddress(address))) return callback(notPublic(hostname), '');
    if (options.all) return callback(null, addresses);
    return callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
  });
};

function notPublic(host: string): TransferError {
  return new TransferError(
    `The service names the host ${host}, which is in a private network. Only the host that you give yourself may be there.`,
  );
}
