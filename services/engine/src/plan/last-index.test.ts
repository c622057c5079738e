import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LastIndex } from './last-index.ts';

test('the last index is that of a search from the end', () => {
  const value = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.constant(Number.POSITIVE_INFINITY));
  const limits = fc.oneof(value, fc.constant(Number.NEGATIVE_INFINITY));
  fc.assert(
    fc.property(fc.array(value), limits, (values, limit) => {
      const index = new LastIndex(values);
      expect(index.below(limit)).toBe(values.findLastIndex((each) => each < limit));
      expect(index.atMost(limit)).toBe(values.findLastIndex((each) => each <= limit));
    }),
  );
});
