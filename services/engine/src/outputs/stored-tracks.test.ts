import { expect, test } from '@jest/globals';
import { keyOfSegment } from './stored-tracks.ts';

const track = {
  name: '480p' as const,
  segmentBytes: [1, 1, 1],
  places: [
    { firstSegment: 0, prefix: 'hls/w/v/a1/t3.1/' },
    { firstSegment: 2, prefix: 'hls/w/v/a1/t4.2/' },
  ],
};

test.each([
  [0, 'ts', 'hls/w/v/a1/t3.1/480p/0.ts'],
  [1, 'ts', 'hls/w/v/a1/t3.1/480p/1.ts'],
  [2, 'cmaf', 'hls/w/v/a1/t4.2/480p/2.m4s'],
] as const)('segment %i (%s) is below the last place that begins before it', (sequence, packaging, key) => {
  expect(keyOfSegment(track, sequence, packaging)).toBe(key);
});

test('a segment before all places is an error', () => {
  const late = { ...track, places: track.places.slice(1) };
  expect(() => keyOfSegment(late, 1, 'ts')).toThrow('Segment 1 of 480p has no place');
});
