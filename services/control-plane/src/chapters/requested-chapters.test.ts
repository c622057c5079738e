import type { Problem } from '@framelane/service-kit/problem';
import { expect, test } from '@jest/globals';
import { requestedChapters } from './requested-chapters.ts';

const at = (...starts: number[]) => ({
  chapters: starts.map((start) => ({ start, title: ` At ${start} ` })),
});
const errorOf = (starts: number[], duration: number | null = null) => {
  try {
    requestedChapters(at(...starts), duration);
    return undefined;
  } catch (error) {
    return (error as Problem).options.errors?.[0];
  }
};

test('chapters are sorted, in milliseconds, with trimmed titles', () => {
  expect(requestedChapters(at(4, 1.0004), null)).toEqual([
    { start: 1000, title: 'At 1.0004' },
    { start: 4000, title: 'At 4' },
  ]);
});

test.each([
  [[3, 1, 3], 2],
  [[3.0004, 1, 3], 2],
  [[1, 1], 1],
])('of %j, one starts together with another', (starts, index) => {
  expect(errorOf(starts)).toMatchObject({ field: `body/chapters/${index}/start`, code: 'unique' });
});

test('none begins at or after the end of the video', () => {
  expect(errorOf([0, 9.999], 10)).toBeUndefined();
  expect(errorOf([10, 0], 10)).toEqual({
    field: 'body/chapters/0/start',
    code: 'out_of_range',
    message: 'must be before the end of the video, at 10 seconds',
  });
  expect(errorOf([0, 9.9996], 10)).toMatchObject({ field: 'body/chapters/1/start' });
});
