import { expect, test } from '@jest/globals';
import { checkPublicHost, isPublicAddress } from './public-address.ts';

test.each(['93.184.215.14', '2606:4700:4700::1111'])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '::1',
  'fd00::1',
  'fe80::1',
  '::ffff:169.254.169.254',
  '64:ff9b::7f00:1',
])('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(['http://2130706433/', 'http://0x7f.1/', 'http://[::ffff:7f00:1]/', 'http://127.1/'])(
  'a URL with an address in another spelling is refused: %s',
  (url) => {
    expect(() => checkPublicHost(new URL(url))).toThrow('in a private network');
  },
);
