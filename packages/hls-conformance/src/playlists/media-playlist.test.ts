import { expect, test } from '@jest/globals';
import { readMediaPlaylist } from './media-playlist.ts';
import { readLines } from './playlist-text.ts';

const read = (...lines: string[]) =>
  readMediaPlaylist(readLines(lines.join('\n')), 'https://example.com/video/index.m3u8').segments;

test('a URI that is invalid is skipped, and counts as a segment in the media sequence numbers', () => {
  const segments = read(
    '#EXT-X-MEDIA-SEQUENCE:7',
    ...['#EXTINF:6,', '0.ts', '#EXTINF:6,', 'http://[', '#EXTINF:6,', '2.ts'],
  );
  expect(segments.map(({ uri, sequence }) => [uri, sequence])).toEqual([
    ['0.ts', 7],
    ['2.ts', 9],
  ]);
});

test.each([
  ['0x1F', '0000000000000000000000000000001f'],
  ['0Xffffffffffffffffffffffffffffffff', 'ffffffffffffffffffffffffffffffff'],
  ['0x1ffffffffffffffffffffffffffffffff', '00000000000000000000000000000000'],
  ['0xyz', '00000000000000000000000000000000'],
])('the vector of IV=%s is %s', (iv, vector) => {
  const [segment] = read(`#EXT-X-KEY:METHOD=AES-128,URI="key",IV=${iv}`, '#EXTINF:6,', '0.ts');
  expect(segment?.key?.vector?.toString('hex')).toBe(vector);
});
