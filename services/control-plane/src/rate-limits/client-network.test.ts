import { expect, test } from '@jest/globals';
import { clientNetwork } from './client-network.ts';

test.each([
  ['an IPv4 address', '203.0.113.7', '203.0.113.7'],
  ['an IPv4 address on a dual-stack socket', '::ffff:203.0.113.7', '203.0.113.7'],
  ['the network of an IPv6 address', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['an IPv6 address with a zone', 'fe80::1%eth0', 'fe80::/64'],
  ['the address of the socket when the proxy sends an invalid one', 'unknown', '198.51.100.1'],
  ['the address of the socket when the proxy sends none', undefined, '198.51.100.1'],
])('%s', (_, ip, network) => {
  expect(clientNetwork({ ip, socket: { remoteAddress: '198.51.100.1' } })).toBe(network);
});

test('a closed connection has no address', () => {
  expect(clientNetwork({ ip: undefined, socket: { remoteAddress: undefined } })).toBe('unknown');
});
