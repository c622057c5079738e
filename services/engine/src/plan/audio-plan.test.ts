import { expect, test } from '@jest/globals';
import { audioTrack } from '../../tests/support/tracks.ts';
import { audioLabels, audioPlans } from './audio-plan.ts';

/** The renditions of tracks in a video of ten seconds, without those of 5.1 unless `surround` is set. */
const renditions = (
  tracks: readonly { channels: number; start?: number; end?: number; silentFrom?: number }[],
  surround = false,
  lead = 0,
  firstFrame = 0,
) =>
  audioPlans(
    tracks.map(({ channels, start = 0, end = 10, silentFrom }, index) => ({
      ...audioTrack({ index, channels }),
      start,
      end,
      frames: null,
      ...(silentFrom !== undefined && { silentFrom }),
    })),
    tracks.map(() => null),
    { surround, duration: 10, lead, firstFrame },
  );

test('tracks of 5.1 and more have a second rendition in 5.1, if that is on', () => {
  const tracks = [{ channels: 8 }, { channels: 2 }, { channels: 6, start: 2 }, { channels: 4 }];
  const stereo = renditions(tracks);
  expect(stereo.map(({ name, downmix }) => [name, downmix])).toEqual([
    ...[
      ['audio', true],
      ['audio2', false],
      ['audio3', true],
      ['audio4', true],
    ],
  ]);
  const encoded = { method: { samples: 479_232 }, end: 479_232 / 48_000, decodeToStereo: false };
  expect(renditions(tracks, true)).toEqual([
    ...stereo,
    { ...encoded, name: 'surround', index: 0, channels: 6, late: false, downmix: true },
    { ...encoded, name: 'surround3', index: 2, channels: 6, late: true, downmix: false },
  ]);
});

test.each([
  [1, false],
  [1.1, true],
])('audio that begins after %s s is late: %s', (start, late) => {
  expect(renditions([{ channels: 6, start }], true).map((rendition) => rendition.late)).toEqual([late, late]);
});

test('a track without sound in a part is silent there', () => {
  const isSilent = (track: { start?: number; end?: number }, lead: number, firstFrame = 25 * lead) =>
    renditions([{ channels: 6, ...track }], true, lead, firstFrame).map(({ silent = false }) => silent);
  expect(isSilent({ end: 59 }, 60)).toEqual([true, true]);
  expect(isSilent({ end: 60.09 }, 60)).toEqual([true, true]);
  expect(isSilent({ end: 60.11 }, 60)).toEqual([false, false]);
  expect(isSilent({ start: 70, end: 90 }, 60)).toEqual([false, false]);
  expect(isSilent({ start: 70.1, end: 90 }, 60)).toEqual([true, true]);
  expect(isSilent({ start: 70.1, end: 90 }, 60, 0)).toEqual([true, true]);
  // Without a trim, the shortest sound is heard.
  expect(isSilent({ end: 0.05 }, 0)).toEqual([false, false]);
  expect(isSilent({ start: Number.NaN, end: 90 }, 60)).toEqual([false, false]);
});

test('times of audio are those of the output', () => {
  const tracks = [{ channels: 6, start: 4, silentFrom: 7 }];
  for (const { late, silentFrom } of renditions(tracks, true, 3)) {
    expect([late, silentFrom]).toEqual([false, 4]);
  }
  expect(renditions([{ channels: 2, silentFrom: Number.POSITIVE_INFINITY }])[0]).not.toHaveProperty(
    'silentFrom',
  );
});

const track = (title: string | null, language: string | null = null) => ({ title, language });

test('audio is named after its title, else its language, and no two names are equal', () => {
  const tracks = [
    ...[track(null, 'en'), track(null, 'fr'), track(null, 'en'), track(null, 'pt-BR')],
    ...[
      track(null, 'it-x-roma'),
      track(null, 'qaa'),
      track('Director'),
      track('  '),
      track('Director', 'de'),
    ],
  ];
  expect(audioLabels(tracks)).toEqual([
    ...['English', 'Français', 'English 2', 'Português (Brasil)'],
    ...['Italiano', 'Audio', 'Director', 'Audio 2', 'Director 2'],
  ]);
});

test.each([
  ['quotation marks', 'The "cut"', "The 'cut'"],
  ['spaces', '  one  two ', 'one two'],
  ['a space as character 80', `${'x'.repeat(79)} y`, 'x'.repeat(79)],
  ['80 characters after a space', ` ${'x'.repeat(80)}`, 'x'.repeat(80)],
  ['line breaks and bidirectional formatting', 'one\r\n\u202etwo', 'one two'],
  ['more than 80 characters', '🎬'.repeat(90), '🎬'.repeat(80)],
  ['only unprintable characters', '\u0000\u2028', 'Deutsch'],
])('a title with %s is safe in a playlist', (_, title, label) => {
  expect(audioLabels([track(title, 'de')])).toEqual([label]);
});
