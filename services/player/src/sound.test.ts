import { expect, test } from '@jest/globals';
import { hasSound } from './sound.ts';

type Api = NonNullable<Parameters<typeof hasSound>[0]['api']>;
const api = (audioTracks: object[], audioCodecs: (string | undefined)[]) =>
  ({ audioTracks, levels: audioCodecs.map((audioCodec) => ({ audioCodec })) }) as Api;

test.each<[string, Parameters<typeof hasSound>[0], boolean]>([
  ['an audio rendition', { api: api([{}], [undefined]) }, true],
  ['sound in its video renditions', { api: api([], ['mp4a.40.2']) }, true],
  ['neither', { api: api([], [undefined, undefined]) }, false],
  ['audio tracks of the browser', { audioTracks: { length: 1 } }, true],
  ['no audio track of the browser', { audioTracks: { length: 0 } }, false],
  ['video tracks of the browser alone', { audioTracks: { length: 0 }, videoTracks: { length: 1 } }, false],
  [
    'tracks that the browser does not know yet',
    { audioTracks: { length: 0 }, videoTracks: { length: 0 } },
    true,
  ],
  ['a browser that does not tell', {}, true],
])('a stream with %s', (_, media, expected) => {
  expect(hasSound(media)).toBe(expected);
});
