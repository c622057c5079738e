import { expect, test } from '@jest/globals';
import { pollAfter } from './live.ts';

test('polls often only while a video is in progress', () => {
  expect(pollAfter([{ status: 'ready' }, { status: 'processing' }])).toBe(2_000);
  expect(pollAfter([{ status: 'uploading' }])).toBe(2_000);
  expect(pollAfter([{ status: 'ready' }, { status: 'failed' }])).toBe(15_000);
  expect(pollAfter([])).toBe(15_000);
});
