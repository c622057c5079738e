import { expect, test } from '@jest/globals';
import { requireLinearTime } from './growth.ts';

const text = (size: number) => 'a'.repeat(size);

/** Takes a time in proportion to the steps. */
function spend(steps: number): number {
  let sum = 0;
  for (let step = 0; step < steps; step += 1) sum += Math.sqrt(step);
  return sum;
}

test('linear work passes', async () => {
  await requireLinearTime(2 ** 21, text, ({ length }) => spend(length * 20));
});

test('quadratic work fails, at the first size where it takes a measurable time', async () => {
  let largest = 0;
  const work = ({ length }: string) => {
    largest = length;
    return spend((length / 32) ** 2);
  };
  await expect(requireLinearTime(2 ** 21, text, work)).rejects.toThrow(/not linear: at size \d+ it takes/);
  expect(largest).toBeLessThan(2 ** 21);
});
