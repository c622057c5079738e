import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.parse>;

/** A range of addresses: its first one and the length of the prefix. */
export type AddressRange = ReturnType<typeof ipaddr.parseCIDR>;

/** All of the IPv6 addresses that are routed on the internet begin like this (RFC 4291 §2.4, IANA). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** IPv4 addresses as a NAT64 gateway is asked for them (RFC 6052 §2.1). */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** Where machines on Azure reach their platform; it stands among public addresses. */
const AZURE_PLATFORM = '168.63.129.16';

/** Reads ranges such as `10.0.0.0/8,fd00::/8`; null when one of them is none. */
export function readRanges(list: string): AddressRange[] | null {
  const ranges = list.split(',').map((cidr) => cidr.trim());
  return ranges.every((cidr) => ipaddr.isValidCIDR(cidr))
    ? ranges.map((cidr) => ipaddr.parseCIDR(cidr))
    : null;
}

/**
 * Whether events may be sent to this address. In the ranges that the operator has named anything goes; elsewhere only
 * https, and only to addresses of the public internet.
 */
export function isAllowedAddress(
  address: string,
  protocol: string,
  allowedRanges: readonly AddressRange[],
): boolean {
  const real = realAddress(address);
  if (real === undefined) return false;
  return isWithin(real, allowedRanges) || (protocol === 'https:' && isPublic(real));
}

/** The address that is meant: the IPv4 one where it is wrapped into an IPv6 one. */
function realAddress(text: string): Address | undefined {
  if (!ipaddr.isValid(text)) return undefined;
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
