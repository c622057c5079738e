import type { Schemas } from '@framelane/client';
import { expect, test } from '@jest/globals';
import { quotaAdvice } from './quota-advice.ts';

const NONE: Schemas['Limits'] = {
  storedBytes: { used: 5, reserved: 0, limit: null },
  transcodedMinutes: { used: 5, limit: null },
  videos: { used: 5, limit: null },
  uploads: { used: 5, limit: null },
  fileBytes: { limit: null },
};

test('without limits, and far from them, there is nothing to do', () => {
  expect(quotaAdvice(NONE)).toEqual([]);
  expect(
    quotaAdvice({
      ...NONE,
      storedBytes: { used: 89, reserved: 0, limit: 100 },
      transcodedMinutes: { used: 89, limit: 100 },
      videos: { used: 89, limit: 100 },
      uploads: { used: 0, limit: 1 },
    }),
  ).toEqual([]);
});

test.each<[Partial<Schemas['Limits']>, string]>([
  [{ storedBytes: { used: 80, reserved: 10, limit: 100 } }, 'The storage is full, or nearly.'],
  [{ transcodedMinutes: { used: 120, limit: 100 } }, 'The minutes are used up, or nearly.'],
  [{ videos: { used: 90, limit: 100 } }, 'The workspace has as many videos as it may have, or nearly.'],
  [{ uploads: { used: 9, limit: 10 } }, 'All open upload tickets are in use, or nearly all.'],
  [{ videos: { used: 3, limit: 0 } }, 'The operator allows no new videos.'],
])('near the limit in %j', (limits, words) => {
  const advice = quotaAdvice({ ...NONE, ...limits });
  expect(advice).toEqual([expect.stringContaining(words)]);
});
