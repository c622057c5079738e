import { expect, test } from '@jest/globals';
import { settleEach } from './settle-each.ts';

test('does all of the work, and rejects with what failed of it', async () => {
  const done: number[] = [];
  const settled = settleEach([1, 2, 3, 4], async (item) => {
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
