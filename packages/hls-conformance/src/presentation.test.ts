import { expect, test } from '@jest/globals';
import { shortAddress } from './presentation.ts';

test.each([
  ['https://example.com/video/180p/0.ts?token=secret', 'https://example.com/video/master.m3u8', '180p/0.ts'],
  ['https://example.com/key', 'https://example.com/video/master.m3u8', 'https://example.com/key'],
  ['https://example.com/video/', 'https://example.com/video/', 'https://example.com/video/'],
])('%s in a presentation at %s is called %s', (url, presentationUrl, name) => {
  expect(shortAddress(url, presentationUrl)).toBe(name);
});
