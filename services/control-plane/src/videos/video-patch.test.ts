import { describe, expect, test } from '@jest/globals';
import { changesOf } from './video-patch.ts';

const metadata = { a: '1', b: '2' };
const fifty = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, 'v']));

describe('changesOf', () => {
  test('changes only the given fields', () => {
    expect(changesOf({ metadata }, {})).toEqual({});
    expect(changesOf({ metadata }, { title: 'New' })).toEqual({ title: 'New' });
  });

  test('merges metadata pair by pair; null removes a pair, or all', () => {
    const merged = (patch: Record<string, string | null> | null) =>
      changesOf({ metadata }, { metadata: patch }).metadata;
    expect(merged({ b: null, c: '3' })).toEqual({ a: '1', c: '3' });
    expect(merged({ a: 'x' })).toEqual({ a: 'x', b: '2' });
    expect(merged({ unknown: null })).toEqual(metadata);
    expect(merged({})).toEqual(metadata);
    expect(merged(null)).toEqual({});
  });

  test('accepts names of JavaScript properties as metadata names', () => {
    const patch = JSON.parse('{"__proto__":"x","constructor":"y"}');
    const changes = changesOf({ metadata: {} }, { metadata: patch });
    expect(JSON.stringify(changes.metadata)).toBe('{"__proto__":"x","constructor":"y"}');
  });

  test('applies the limit to the result', () => {
    expect(() => changesOf({ metadata: fifty }, { metadata: { k0: 'w' } })).not.toThrow();
    expect(() => changesOf({ metadata: fifty }, { metadata: { k0: null, one: '1' } })).not.toThrow();
    expect(() => changesOf({ metadata: fifty }, { metadata: { one: '1' } })).toThrow(/more than 50/);
  });

  test('null clears tags and passthrough', () => {
    expect(changesOf({ metadata }, { tags: null, passthrough: null })).toEqual({
      tags: [],
      passthrough: null,
    });
  });

  test.each([[['https://a.example']], [[]], [null]])('sets the origins to %j', (allowedOrigins) => {
    expect(changesOf({ metadata }, { allowedOrigins })).toEqual({ allowedOrigins });
  });

  test('sets the policy', () => {
    expect(changesOf({ metadata }, { playbackPolicy: 'signed' })).toEqual({ playbackPolicy: 'signed' });
  });
});
