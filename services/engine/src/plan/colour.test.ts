import { describe, expect, test } from '@jest/globals';
import { hasOtherPrimaries, ownColour, usualMatrix, yuvMatrix } from './colour.ts';

const HD = { width: 1280, height: 720 };
const SD = { width: 720, height: 576 };

describe('primaries', () => {
  test.each(['bt470m', 'bt470bg', 'smpte170m', 'bt2020', 'smpte431', 'smpte432'])(
    '%s are converted, with every matrix that can be converted',
    (colorPrimaries) => {
      for (const colorMatrix of [null, 'gbr', 'bt709', 'smpte170m', 'bt470bg', 'bt2020nc', 'bt2020c']) {
        expect(hasOtherPrimaries({ colorMatrix, colorPrimaries })).toBe(true);
      }
      expect(hasOtherPrimaries({ colorMatrix: 'ictcp', colorPrimaries })).toBe(false);
    },
  );

  test.each([null, 'bt709', 'film'])('%s are not converted', (colorPrimaries) => {
    expect(hasOtherPrimaries({ colorMatrix: 'bt709', colorPrimaries })).toBe(false);
  });
});

test.each([
  [null, null, null],
  [null, 'bt709', null],
  [null, 'bt2020', 'bt2020nc'],
  ['bt2020c', 'bt2020', 'bt2020c'],
  ['smpte170m', null, 'smpte170m'],
  ['gbr', 'bt709', null],
  ['ictcp', 'bt2020', null],
])('the tags %s and %s have the YUV matrix %s', (colorMatrix, colorPrimaries, matrix) => {
  expect(yuvMatrix({ colorMatrix, colorPrimaries })).toBe(matrix);
});

test.each([
  ['720p', HD, 'bt709'],
  ['portrait 720p', { width: 720, height: 1280 }, 'bt709'],
  ['a line less', { width: 1280, height: 719 }, 'bt601'],
  ['standard definition', SD, 'bt601'],
])('untagged video of %s has the matrix of its standard', (_, coded, matrix) => {
  expect(usualMatrix({ coded })).toBe(matrix);
});

test.each([
  ['untagged high definition', HD, {}, ['bt709', 'bt709', 'bt709']],
  ['untagged standard definition', SD, {}, ['smpte170m', 'smpte170m', 'smpte170m']],
  ['a matrix of high definition', SD, { colorMatrix: 'bt709' }, ['bt709', 'bt709', 'bt709']],
  ['the American matrix', HD, { colorMatrix: 'smpte170m' }, ['smpte170m', 'smpte170m', 'smpte170m']],
  ['the European matrix', SD, { colorMatrix: 'bt470bg' }, ['bt470bg', 'bt470bg', 'smpte170m']],
  [
    'all tags',
    HD,
    { colorMatrix: 'bt470bg', colorPrimaries: 'bt709', colorTransfer: 'iec61966-2-1' },
    ['bt470bg', 'bt709', 'iec61966-2-1'],
  ],
])('a track with %s has its own colour', (_, coded, tags, [matrix, primaries, transfer]) => {
  const untagged = { colorMatrix: null, colorPrimaries: null, colorTransfer: null };
  expect(ownColour({ coded, ...untagged, ...tags })).toEqual({ matrix, primaries, transfer });
});
