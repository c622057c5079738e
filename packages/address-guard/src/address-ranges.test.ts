import { describe, expect, test } from '@jest/globals';
import { isAllowedAddress, readRanges } from './address-ranges.ts';

describe('without allowed ranges', () => {
  test.each([
    '93.184.215.14',
    '1.1.1.1',
    '172.32.0.1',
    '2606:4700:4700::1111',
    '::ffff:1.1.1.1',
    '64:ff9b::1.1.1.1',
  ])('%s is allowed over https, not over http', (address) => {
    expect(isAllowedAddress(address, 'https:', [])).toBe(true);
    expect(isAllowedAddress(address, 'http:', [])).toBe(false);
  });

  test.each([
    ['this host', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['loopback', '127.0.0.1'],
    ['loopback, last', '127.255.255.254'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['metadata of Alibaba', '100.100.100.200'],
    ['link-local', '169.254.0.1'],
    ['metadata', '169.254.169.254'],
    ['metadata of Oracle', '192.0.0.192'],
    ['platform of Azure', '168.63.129.16'],
    ['documentation', '192.0.2.1'],
    ['benchmarking', '198.18.0.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['IPv6, unspecified', '::'],
    ['IPv6, loopback', '::1'],
    ['IPv6, loopback in full', '0:0:0:0:0:0:0:1'],
    ['IPv6, link-local', 'fe80::1'],
    ['IPv6, link-local with a zone', 'fe80::1%eth0'],
    ['IPv6, site-local', 'fec0::1'],
    ['IPv6, unique local', 'fd00::1'],
    ['IPv6, metadata of AWS', 'fd00:ec2::254'],
    ['IPv6, multicast', 'ff02::1'],
    ['IPv6, documentation', '2001:db8::1'],
    ['IPv6, outside the routed range', '4000::1'],
    ['mapped', '::ffff:127.0.0.1'],
    ['mapped, in hex', '::ffff:a9fe:a9fe'],
    ['mapped, the platform of Azure', '::ffff:168.63.129.16'],
    ['translated', '::ffff:0:10.0.0.1'],
    ['compatible', '::127.0.0.1'],
    ['NAT64', '64:ff9b::127.0.0.1'],
    ['NAT64, in hex', '64:ff9b::a9fe:a9fe'],
    ['NAT64, local prefix', '64:ff9b:1::10.0.0.1'],
    ['6to4', '2002:7f00:1::'],
    ['Teredo', '2001:0:7f00:1::'],
    ['an IPv4 address with fewer than four numbers', '93.184.5903'],
    ['octal', '0135.184.215.14'],
    ['no address', 'example.com'],
    ['nothing', ''],
  ])('%s (%s) is not allowed', (_, address) => {
    expect(isAllowedAddress(address, 'https:', [])).toBe(false);
  });
});

describe('allowed ranges', () => {
  const ranges = readRanges('127.0.0.0/8, fd00::/8') ?? [];

  test.each(['127.0.0.1', '::ffff:127.0.0.1', 'fd12::1'])('%s is allowed, also over http', (address) => {
    expect(isAllowedAddress(address, 'http:', ranges)).toBe(true);
    expect(isAllowedAddress(address, 'https:', ranges)).toBe(true);
  });

  test.each(['::1', '10.0.0.1', 'fe80::1'])('%s is outside of them', (address) => {
    expect(isAllowedAddress(address, 'http:', ranges)).toBe(false);
  });

  test.each(['127.0.0.1', '127.0.0.0/33', 'loopback', '10.0.0.0/8,', '10.0.0.0/8;fd00::/8'])(
    '"%s" is malformed',
    (list) => expect(readRanges(list)).toBeNull(),
  );
});

test('other protocols can be allowed for public addresses', () => {
  expect(isAllowedAddress('1.1.1.1', 'http:', [], ['https:', 'http:'])).toBe(true);
  expect(isAllowedAddress('10.0.0.1', 'http:', [], ['https:', 'http:'])).toBe(false);
});
