import { expect, test } from '@jest/globals';
import { parse, setOptions, types } from 'hls-parser';
import { renderMediaPlaylist, targetDurationOf } from './media-playlist.ts';

setOptions({ strictMode: true });

test('a rendition is rendered segment by segment under one key', () => {
  const playlist = renderMediaPlaylist({
    packaging: 'ts',
    durations: [6, 6.006, 1.501133],
    targetDuration: 6,
  });
  expect(playlist).toBe(`#EXTM3U
#EXT-X-VERSION:6
#EXT-X-TARGETDURATION:6
#EXT-X-MEDIA-SEQUENCE:0
#EXT-X-PLAYLIST-TYPE:VOD
#EXT-X-KEY:METHOD=AES-128,URI="../key"
#EXTINF:6.000000,
0.ts
#EXTINF:6.006000,
1.ts
#EXTINF:1.501133,
2.ts
#EXT-X-ENDLIST
`);
});

test('the initialization section of CMAF is clear: its tag comes before that of the key', () => {
  const segments = { packaging: 'cmaf', durations: [2, 2], targetDuration: 2 } as const;
  expect(renderMediaPlaylist(segments, { token: 'a.b' })).toBe(`#EXTM3U
#EXT-X-VERSION:6
#EXT-X-TARGETDURATION:2
#EXT-X-MEDIA-SEQUENCE:0
#EXT-X-PLAYLIST-TYPE:VOD
#EXT-X-MAP:URI="init.mp4"
#EXT-X-KEY:METHOD=AES-128,URI="../key?token=a.b"
#EXTINF:2.000000,
0.m4s
#EXTINF:2.000000,
1.m4s
#EXT-X-ENDLIST
`);
  const iFrames = renderMediaPlaylist(segments, {
    iFramesOnly: true,
    segmentsAt: 'https://cdn.example/v/iframes/',
  });
  expect(iFrames).toContain(
    '#EXT-X-I-FRAMES-ONLY\n#EXT-X-MAP:URI="https://cdn.example/v/iframes/init.mp4"\n#EXT-X-KEY:',
  );
  expect(iFrames).toContain('\nhttps://cdn.example/v/iframes/1.m4s\n');
});

test('a playlist of I-frames says so', () => {
  const playlist = parse(
    renderMediaPlaylist({ packaging: 'ts', durations: [2, 2], targetDuration: 6 }, { iFramesOnly: true }),
  );
  expect(playlist).toMatchObject({
    isIFrame: true,
    targetDuration: 6,
    segments: [{ duration: 2 }, { duration: 2 }],
  });
});

test('a player reads an ended VOD playlist whose segments are all encrypted, with the sequence number as IV', () => {
  const durations = [6.006, 6.006, 0.2];
  const playlist = parse(renderMediaPlaylist({ packaging: 'ts', durations, targetDuration: 6 }));
  if (!(playlist instanceof types.MediaPlaylist)) throw new Error('Not a media playlist');

  expect(playlist).toMatchObject({
    playlistType: 'VOD',
    endlist: true,
    targetDuration: 6,
    mediaSequenceBase: 0,
  });
  expect(
    playlist.segments.map(({ uri, duration, mediaSequenceNumber }) => [uri, duration, mediaSequenceNumber]),
  ).toEqual([
    ['0.ts', 6.006, 0],
    ['1.ts', 6.006, 1],
    ['2.ts', 0.2, 2],
  ]);
  for (const { key, discontinuity } of playlist.segments) {
    expect(key).toMatchObject({ method: 'AES-128', uri: '../key' });
    expect(key?.iv).toBeUndefined();
    expect(discontinuity).toBeFalsy();
  }
});

test.each<[string, number[][], number]>([
  ['rounds to the nearest second', [[6, 6.006, 2]], 6],
  ['rounds half a second up', [[6.5, 2]], 7],
  [
    'considers all renditions',
    [
      [6, 6],
      [6.02, 5.98, 6.9],
    ],
    7,
  ],
  ['is at least one second', [[0.3]], 1],
])('the target duration %s', (_what, renditions, expected) => {
  const segments = renditions.map((durations) => durations.map((duration) => ({ duration, bytes: 1 })));
  expect(targetDurationOf(segments)).toBe(expected);
});
