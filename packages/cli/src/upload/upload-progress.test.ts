import { expect, test } from '@jest/globals';
import { TransferRate } from './transfer-rate.ts';
import { progressText } from './upload-command.ts';

test('the rate is that of the last ten seconds', () => {
  const rate = new TransferRate();
  expect(rate.add(0, 0)).toBe(0);
  expect(rate.add(1000, 1000)).toBe(1000);
  expect(rate.add(11_000, 11_000)).toBe(1000);
  expect(rate.add(11_000, 16_000)).toBe(0);
});

test('the rate is not negative when bytes have been lost', () => {
  const rate = new TransferRate();
  rate.add(5000, 0);
  expect(rate.add(1000, 1000)).toBe(0);
});

test.each([
  [[0, 2_000_000, 0], 'a.mp4: 0 %, 0 B of 2.0 MB'],
  [[1_000_000, 2_000_000, 500_000], 'a.mp4: 50 %, 1.0 MB of 2.0 MB, 500.0 kB/s, 2 s left'],
  [[1000, null, 100], 'a.mp4: 1.0 kB, 100 B/s'],
  [[0, 0, 0], 'a.mp4: 100 %, 0 B of 0 B'],
] as const)('%j is shown as %s', ([sent, total, rate], text) => {
  expect(progressText('a.mp4', sent, total, rate)).toBe(text);
});
