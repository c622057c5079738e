import { describe, expect, test } from '@jest/globals';
import { AddressGuard, AddressRefusedError, type PublicProtocols } from './address-guard.ts';
import { readRanges } from './address-ranges.ts';
import { HostNotFoundError } from './resolve-host.ts';

/** A guard whose resolver knows only these names. */
function guard(
  names: Record<string, string[]> = {},
  allow?: string,
  publicProtocols: PublicProtocols = ['https:'],
) {
  return new AddressGuard({
    allowedRanges: allow === undefined ? [] : (readRanges(allow) ?? []),
    publicProtocols,
    resolveHost: async (hostname) => {
      const addresses = names[hostname];
      if (addresses === undefined) throw new HostNotFoundError(hostname);
      return addresses;
    },
  });
}

/** URLs of addresses that are not public, in many spellings. */
const FORBIDDEN = [
  'http://127.0.0.1/',
  'https://127.0.0.1/',
  'https://127.0.0.1:8443/hooks',
  'https://2130706433/',
  'https://017700000001/',
  'https://0x7f000001/',
  'https://0x7f.0.0.1/',
  'https://0177.0.0.1/',
  'https://127.1/',
  'https://127.0.1/',
  'https://0/',
  'https://127.0.0.1./',
  'https://%31%32%37.0.0.1/',
  'https://１２７.0.0.1/',
  'https://①②⑦.0.0.1/',
  'https://127。0。0。1/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[0:0:0:0:0:ffff:127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[fd00::1]/',
  'https://[fe80::1]/',
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://10.0.0.1/',
  'https://0xa9fea9fe/',
  'https://192.168.0.1/',
  'https://100.64.0.1/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://@127.0.0.1/',
  'https://localhost/',
  'https://LocalHost./',
  'https://a.b.localhost/',
];

describe('refused', () => {
  test.each([
    ...FORBIDDEN,
    'http://example.com/',
    'http://soon.example/',
    'https://user@example.com/',
    'https://user:password@example.com/',
    'https://:password@example.com/',
    'https://example.com:0/',
    'ftp://example.com/',
    'xhttps://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'javascript:alert(1)',
    '//example.com/',
    'example.com',
    'https://',
    'https://256.0.0.1/',
    'https://[fe80::1%25eth0]/',
  ])('%s', async (url) => {
    const check = guard({ 'example.com': ['93.184.215.14'] }).check(url);
    await expect(check).rejects.toThrow(AddressRefusedError);
  });

  test.each([
    ['one address', ['10.0.0.1']],
    ['one of several', ['93.184.215.14', '::1']],
    ['one embedded in IPv6', ['::ffff:169.254.169.254']],
  ])('a name that resolves to %s in a private network', async (_, addresses) => {
    const check = guard({ 'inside.example': addresses }).check('https://inside.example/');
    await expect(check).rejects.toThrow(/public address/);
    // The client does not learn what names resolve to.
    await expect(check).rejects.not.toThrow(/\d/);
  });

  test('http, with a message that names https', async () => {
    await expect(guard().check('http://93.184.215.14/')).rejects.toThrow(/must begin with https:\/\//);
  });
});

describe('accepted', () => {
  test.each([
    'https://example.com/',
    'https://example.com:8443/hooks?key=1#top',
    'https://EXAMPLE.com/',
    'https://93.184.215.14/',
    'https://[2606:4700:4700::1111]/',
  ])('%s', async (url) => {
    await guard({ 'example.com': ['93.184.215.14', '2606:4700::1'] }).check(url);
  });

  test('a name that does not resolve yet', async () => {
    await guard().check('https://soon.example/');
  });

  test('addresses that the operator allows, in every spelling', async () => {
    const local = guard({ 'inside.example': ['127.0.0.1'] }, '127.0.0.0/8');
    for (const host of ['127.0.0.1', '127.1', '2130706433', '[::ffff:127.0.0.1]', 'inside.example']) {
      await local.check(`http://${host}:3000/`);
    }
    await expect(local.check('http://[::1]:3000/')).rejects.toThrow(AddressRefusedError);
  });
});

describe('without a lookup', () => {
  /** A guard that fails to resolve names. */
  const check = (url: string, allow?: string) =>
    new AddressGuard({
      allowedRanges: allow === undefined ? [] : (readRanges(allow) ?? []),
      publicProtocols: ['https:', 'http:'],
      resolveHost: () => Promise.reject(new Error('A name was resolved')),
    }).checkFixed(new URL(url));

  test.each(FORBIDDEN)('%s is refused', (url) => {
    expect(() => check(url)).toThrow(AddressRefusedError);
    expect(() => check(url.replace('https:', 'http:'))).toThrow('must have a public address');
  });

  test.each(['https://93.184.215.14/', 'http://[2606:4700:4700::1111]/', 'http://inside.example/'])(
    '%s is accepted',
    (url) => check(url),
  );

  test('addresses that the operator allows are accepted', () => {
    for (const host of ['10.1.2.3', '0xa.1', '[::ffff:10.0.0.1]', 'localhost']) {
      check(`http://${host}/`, '10.0.0.0/8,127.0.0.0/8,::1/128');
    }
    expect(() => check('http://localhost/', '127.0.0.0/8')).toThrow(AddressRefusedError);
  });
});

describe('with http to public addresses', () => {
  const open = guard({ 'example.com': ['93.184.215.14'], 'inside.example': ['10.0.0.1'] }, undefined, [
    'https:',
    'http:',
  ]);

  test.each(['http://example.com/', 'http://93.184.215.14/', 'https://example.com/'])(
    'accepts %s',
    async (url) => {
      await open.check(url);
    },
  );

  test.each(['http://inside.example/', 'http://127.1/', 'https://10.0.0.1/', 'http://[::ffff:a9fe:a9fe]/'])(
    'refuses %s',
    async (url) => {
      await expect(open.check(url)).rejects.toThrow(AddressRefusedError);
    },
  );

  test('names both schemes when it refuses another', async () => {
    await expect(open.check('ftp://example.com/')).rejects.toThrow(
      'must be an absolute http:// or https:// URL',
    );
  });
});
