import { expect, test } from '@jest/globals';
import { forEachSettled } from './for-each-settled.ts';

test('runs the work for every item, and rejects with all failures', async () => {
  const done: number[] = [];
  const settled = forEachSettled([1, 2, 3, 4], async (item) => {
    if (item % 2 === 1) throw new Error(`not ${item}`);
    done.push(item);
  });
  await expect(settled).rejects.toMatchObject({
    message: '2 of 4 failed',
    errors: [new Error('not 1'), new Error('not 3')],
    cause: new Error('not 1'),
  });
  expect(done).toEqual([2, 4]);
});
