import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.parse>;

/** A range of addresses: its first one and the length of the prefix. */
export type AddressRange = ReturnType<typeof ipaddr.parseCIDR>;

/** The IPv6 addresses that are routed on the internet (RFC 4291 §2.4, IANA). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** IPv4 addresses behind a NAT64 gateway (RFC 6052 §2.1). */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** The platform endpoint of Azure, which is in a public range. */
const AZURE_PLATFORM = '168.63.129.16';

/** Parses ranges such as `10.0.0.0/8,fd00::/8`; null when one is malformed. */
export function readRanges(list: string): AddressRange[] | null {
  const ranges = list.split(',').map((cidr) => cidr.trim());
  return ranges.every((cidr) => ipaddr.isValidCIDR(cidr))
    ? ranges.map((cidr) => ipaddr.parseCIDR(cidr))
    : null;
}

/**
 * Whether an address may be connected to: over any protocol in the ranges that the operator allows, elsewhere only over
 * `publicProtocols` to public addresses.
 */
export function isAllowedAddress(
  address: string,
  protocol: string,
  allowedRanges: readonly AddressRange[],
  publicProtocols: readonly string[] = ['https:'],
): boolean {
  const real = realAddress(address);
  if (real === undefined) return false;
  return isWithin(real, allowedRanges) || (publicProtocols.includes(protocol) && isPublic(real));
}

/** The parsed address; of an IPv6 address that embeds an IPv4 one, the latter. */
function realAddress(text: string): Address | undefined {
  // The library also reads `127.1` and `0177.0.0.1`, which sockets and other programs may read differently.
  if (isIP(text) === 0 || !ipaddr.isValid(text)) return undefined;
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv6 && address.match(NAT64))
    return new ipaddr.IPv4(address.toByteArray().slice(-4));
  return address;
}

function isWithin(address: Address, ranges: readonly AddressRange[]): boolean {
  return ranges.some(([first, bits]) => first.kind() === address.kind() && address.match(first, bits));
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv6
    ? address.match(GLOBAL_UNICAST)
    : address.toString() !== AZURE_PLATFORM;
}
