import { expect, test } from '@jest/globals';
import { endsOf } from './ends.ts';

test('the end of a long text stays whole, and nothing is lost', () => {
  const url = 'https://video.example.com/v1/hls/ws_1/vid_01m8n8sq73f239kb54nv1w2fav/master.m3u8';
  const { beginning, end } = endsOf(url);
  expect(end).toBe('54nv1w2fav/master.m3u8'.padStart(24, 'kb'));
  expect(beginning + end).toBe(url);
});

test('a short text is its end', () => {
  expect(endsOf('vid_1')).toEqual({ beginning: '', end: 'vid_1' });
  expect(endsOf('x'.repeat(24)).beginning).toBe('');
  expect(endsOf('x'.repeat(25)).beginning).toBe('x');
});
