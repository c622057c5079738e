import { expect, test } from '@jest/globals';
import { readProxies } from './proxies.ts';

test('proxies are addresses and ranges', () => {
  expect(readProxies('10.0.0.0/8, fd00::/8,192.0.2.1')).toEqual(['10.0.0.0/8', 'fd00::/8', '192.0.2.1']);
  expect(readProxies('10.0.0.0/8,proxy.example')).toBeNull();
  expect(readProxies('10.0.0.0/33')).toBeNull();
});
