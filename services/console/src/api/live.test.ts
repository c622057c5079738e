import { expect, test } from '@jest/globals';
import { videoPollInterval } from './live.ts';

test('polls often only while a video is in progress', () => {
  expect(videoPollInterval([{ status: 'ready' }, { status: 'processing' }])).toBe(2_000);
  expect(videoPollInterval([{ status: 'uploading' }])).toBe(2_000);
  expect(videoPollInterval([{ status: 'ready' }, { status: 'failed' }])).toBe(15_000);
  expect(videoPollInterval([])).toBe(15_000);
});
