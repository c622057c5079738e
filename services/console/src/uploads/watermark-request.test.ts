import { expect, test } from '@jest/globals';
import { isPercentage, watermarkForm, watermarkRequest } from './watermark-request.ts';

test('percentages become fractions, and back', () => {
  const form = { image: 'wmk_1', corner: 'bottom-left', width: '12.5', opacity: '60' } as const;
  const request = { image: 'wmk_1', corner: 'bottom-left', width: 0.125, opacity: 0.6 };
  expect(watermarkRequest(form)).toEqual(request);
  expect(watermarkForm(watermarkRequest(form))).toEqual(form);
});

test('without an image there is no watermark', () => {
  expect(watermarkForm()).toEqual({ image: '', corner: 'top-right', width: '15', opacity: '100' });
  expect(watermarkRequest(watermarkForm())).toBeUndefined();
});

test.each([
  ['0.5', true],
  ['100', true],
  ['0.4', false],
  ['100.1', false],
  ['', false],
  [' ', false],
  ['a', false],
])('the percentage %j is valid: %p', (text, valid) => {
  expect(isPercentage(text, 0.5)).toBe(valid);
});
