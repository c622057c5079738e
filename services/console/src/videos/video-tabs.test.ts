import { expect, test } from '@jest/globals';
import { TAB_NAMES, tabsOf } from './video-tabs.ts';

test('a video that can be played, or will be, has all tabs', () => {
  const all = Object.keys(TAB_NAMES);
  for (const status of ['uploading', 'processing', 'ready'] as const)
    expect(tabsOf({ status, retryable: false })).toEqual(all);
  expect(tabsOf({ status: 'failed', retryable: true })).toEqual(all);
});

test('a video that can never be played has what happened first', () => {
  expect(tabsOf({ status: 'failed', retryable: false })).toEqual(['activity', 'outputs']);
});
