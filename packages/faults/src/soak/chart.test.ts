import { expect, test } from '@jest/globals';
import { chart } from './chart.ts';

test('a line starts at the left, ends at the right, and its greatest value is below the top', () => {
  const points = [
    { minutes: 0, value: 0 },
    { minutes: 10, value: 40 },
  ];
  const svg = chart('Memory', 'MiB', [{ name: 'engine 1', points }]);
  // 0 is at the bottom (240 - 28), 40 at 80 % of the height of 50, which is the next round number.
  expect(svg).toContain('d="M64.0 212.0L668.0 68.0"');
  expect(svg).toContain('>50</text>');
  expect(svg).toContain('>engine 1</text>');
  expect(svg).toContain('Memory, MiB');
});
