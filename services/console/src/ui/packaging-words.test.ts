import { expect, test } from '@jest/globals';
import { codecNames, codecWords } from './packaging-words.ts';

test('codecs have their usual names', () => {
  expect(codecNames(['h264', 'av1', 'hevc'])).toBe('H.264, AV1, HEVC');
});

test('a codec that is not ready has its state', () => {
  expect(codecWords({ codec: 'h264', status: 'ready', error: null })).toBe('H.264');
  expect(codecWords({ codec: 'av1', status: 'preparing', error: null })).toBe('AV1: being prepared');
  const error = { code: 'codec_failed', message: 'Why.' } as const;
  expect(codecWords({ codec: 'hevc', status: 'failed', error })).toBe('HEVC: failed. Why.');
});
