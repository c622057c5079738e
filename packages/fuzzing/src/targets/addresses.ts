import { BlockList, isIP } from 'node:net';
import {
  AddressGuard,
  AddressRefusedError,
  type PublicProtocols,
} from '@framelane/address-guard/address-guard';
import { readRanges } from '@framelane/address-guard/address-ranges';
import { HostNotFoundError } from '@framelane/address-guard/resolve-host';
import { expectThat, refusedLaterWith, refusedWith } from '../promises.ts';
import type { Target } from '../target.ts';

/** Addresses of IANA's registries that are not on the internet, and those that lead to IPv4 addresses. A second opinion, by other code. One list for each family, because a list of both takes an IPv4 address for the IPv6 one that it maps to. */
const FORBIDDEN = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const [first, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['168.63.129.16', 32],
] as [string, number][])
  FORBIDDEN.ipv4.addSubnet(first, bits, 'ipv4');
for (const [first, bits] of [
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 32],
  ['2001:10::', 28],
  ['2001:db8::', 32],
  ['2002::', 16],
] as [string, number][])
  FORBIDDEN.ipv6.addSubnet(first, bits, 'ipv6');

/** An IPv4 address behind a NAT64 gateway, as the URL parser writes it. */
const NAT64 = /^64:ff9b::([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

const HTTPS: PublicProtocols = ['https:'];

/** An URL, and in the next lines the addresses that its host resolves to. */
export const target: Target = {
  maxBytes: 300,
  steps: { fixed: 2_000, perByte: 60 },
  libraries: ['ipaddr.js'],
  dictionary: [
    'https://',
    'http://',
    '[',
    ']',
    ':',
    '::',
    '@',
    '%',
    '.',
    '/',
    '#',
    '?',
    '\\',
    '\n',
    '0x',
    '0177',
    '2130706433',
    '127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '::1',
    '::ffff:',
    '64:ff9b::',
    '2002:7f00:1::',
    'fe80::1',
    'fd00::',
    '2001:',
    'localhost',
    '%25eth0',
    '。',
    '①',
    'xn--',
    '/8',
    '0.0.0.0',
    '8.8.8.8',
    '2606:4700::',
  ],
  seeds: [
    'https://example.com/\n93.184.215.14\n2606:4700::1',
    'https://[2606:4700::1111]:8443/a',
    'https://93.184.215.14/',
    '10.0.0.0/8,fd00::/8',
  ],
  run: async (input) => {
    const [url = '', ...addresses] = input.toString().split('\n');
    refusedWith([], () => readRanges(url));
    const guard = new AddressGuard({
      allowedRanges: [],
      publicProtocols: HTTPS,
      resolveHost: async (host) => {
        if (addresses.length === 0) throw new HostNotFoundError(host);
        return addresses;
      },
    });
    const isAccepted = await refusedLaterWith([AddressRefusedError], () => guard.check(url).then(() => true));
    if (isAccepted === undefined) return;
    const parsed = new URL(url);
    expectThat(
      parsed.protocol === 'https:' && parsed.username === '' && parsed.password === '',
      'only https without a password',
    );
    const allowed = await refusedLaterWith([HostNotFoundError], () =>
      guard.addressesOf(parsed, AbortSignal.abort()),
    );
    for (const address of allowed ?? [])
      expectThat(isPublic(address), `no connection to ${JSON.stringify(address)}`);
  },
};

function isPublic(address: string): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  const [, high, low] =
    NAT64.exec(new URL(version === 6 ? `http://[${address}]` : `http://${address}`).hostname.slice(1, -1)) ??
    [];
  if (high !== undefined && low !== undefined) {
    const bits = Number.parseInt(high, 16) * 2 ** 16 + Number.parseInt(low, 16);
    return isPublic([24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.'));
  }
  const family = version === 4 ? 'ipv4' : 'ipv6';
  return !FORBIDDEN[family].check(address, family);
}
