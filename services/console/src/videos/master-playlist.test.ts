import { expect, test } from '@jest/globals';
import { readRenditions } from './master-playlist.ts';

const PLAYLIST = `#EXTM3U
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="A, B",URI="audio/index.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=1040000,AVERAGE-BANDWIDTH=832000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=29.970,AUDIO="audio"
360p/index.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=1840000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=854x480,AUDIO="audio"
480p/index.m3u8
#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=90000,CODECS="avc1.64001f",RESOLUTION=640x360,URI="iframes/index.m3u8"
`;

test('lists the variants, highest first', () => {
  const codecs = ['avc1.64001f', 'mp4a.40.2'];
  expect(readRenditions(PLAYLIST)).toEqual([
    { resolution: '854x480', frameRate: null, bandwidth: 1_840_000, averageBandwidth: null, codecs },
    { resolution: '640x360', frameRate: 29.97, bandwidth: 1_040_000, averageBandwidth: 832_000, codecs },
  ]);
});

test('a resolution that is there twice, for two groups of audio, is listed once', () => {
  expect(readRenditions(PLAYLIST + PLAYLIST)).toHaveLength(2);
});

test('a resolution is listed for each codec', () => {
  const inBoth = readRenditions(PLAYLIST + PLAYLIST.replaceAll('avc1.64001f', 'av01.0.05M.08'));
  expect(inBoth.map(({ codecs: [video] }) => video)).toEqual([
    'avc1.64001f',
    'av01.0.05M.08',
    'avc1.64001f',
    'av01.0.05M.08',
  ]);
});
