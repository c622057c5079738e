import { expect, test } from '@jest/globals';
import { hashKey, hashPayload, isStored, withoutMembers } from './idempotency-key.ts';

const hex = (hash: Buffer) => hash.toString('hex');

test('the hash of a key distinguishes route, parameters and key', () => {
  const route = '/webhooks/:id/test';
  const hashes = [
    hashKey({ route, params: { id: 'a' } }, 'k'),
    hashKey({ route, params: { id: 'b' } }, 'k'),
    hashKey({ route: '/webhooks/:id/rotate-secret', params: { id: 'a' } }, 'k'),
    hashKey({ route, params: { id: 'a' } }, 'l'),
    hashKey({ route, params: { id: 'a","k' } }, ''),
  ].map(hex);
  expect(new Set(hashes).size).toBe(hashes.length);
  expect(hex(hashKey({ route, params: { id: 'a' } }, 'k'))).toBe(hashes[0]);
});

test('the hash of a payload ignores the order of members at every depth, and nothing else', () => {
  const payload = hex(hashPayload({ a: [{ x: 1, y: null }], b: 'text' }));
  expect(hex(hashPayload({ b: 'text', a: [{ y: null, x: 1 }] }))).toBe(payload);
  for (const other of [
    { a: [{ x: 1 }], b: 'text' },
    { a: [{ x: '1', y: null }], b: 'text' },
    { a: { 0: { x: 1, y: null } }, b: 'text' },
    {},
    undefined,
  ]) {
    expect(hex(hashPayload(other))).not.toBe(payload);
  }
  expect(hex(hashPayload([1, 2]))).not.toBe(hex(hashPayload([2, 1])));
});

test('an error response caused by the state of a resource is stored', () => {
  expect([404, 409, 413].filter(isStored)).toEqual([404, 409, 413]);
  expect([400, 401, 403, 429, 500, 503].filter(isStored)).toEqual([]);
});

test('one-time members are left out', () => {
  expect(withoutMembers({ id: 'a', secret: 'b' }, ['secret'])).toEqual({ id: 'a' });
});
