import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { describe, expect, test } from '@jest/globals';
import { audioPlan, encodePlan } from '../../tests/support/tracks.ts';
import { planLadder } from '../plan/ladder.ts';
import { encoderOptions } from './encoder-options.ts';

const optionsOf = (changes: Partial<EncodePlan> = {}, preset = 'veryfast') =>
  encoderOptions(encodePlan(changes), { preset, threads: 2 });
const optionOf = (options: readonly string[], name: string) =>
  options.includes(name) ? options[options.indexOf(name) + 1] : undefined;
const valuesOf = (options: readonly string[], name: string) =>
  [0, 1, 2].map((at) => optionOf(options, `${name}:v:${at}`));

const FAST = {
  rungs: planLadder({ width: 1280, height: 720 }, 50),
  frameRate: { numerator: 50, denominator: 1 },
};

describe('the encoder options', () => {
  test('of one rendition with audio', () => {
    const rungs = planLadder({ width: 640, height: 360 }, 25);
    expect(optionsOf({ rungs }).join(' ')).toBe(
      [
        '-c:v:0 libx264 -preset:v:0 veryfast -profile:v:0 high -level:v:0 3.0',
        '-x264-params:v:0 b-adapt=2 -crf:v:0 23',
        '-forced-idr:v:0 1 -sc_threshold:v:0 0 -a53cc:v:0 0 -flags:v:0 +cgop',
        '-maxrate:v:0 800000 -bufsize:v:0 1600000 -force_key_frames:v:0 expr:gte(t,n_forced*2) -g:v:0 51',
        '-threads:v:0 2 -c:a aac -b:a 128k',
      ].join(' '),
    );
  });

  test.each([
    ['veryfast', [undefined, undefined]],
    ['slow', ['5', '5']],
    ['slower', ['8', '8']],
    ['veryslow', ['8', '11']],
  ])('with preset %s use at most as many reference frames as the level allows', (preset, references) => {
    const rungs = planLadder({ width: 854, height: 480 }, 50);
    const options = optionsOf({ rungs, frameRate: FAST.frameRate }, preset);
    expect(valuesOf(options, '-refs').slice(0, 2)).toEqual(references);
  });

  test.each([
    ['ultrafast', undefined],
    ['superfast', 'b-adapt=2:bframes=4:trellis=1'],
    ['veryfast', 'b-adapt=2:bframes=4:trellis=1:ref=2:mixed-refs=1'],
    ['faster', 'b-adapt=2:bframes=4:mixed-refs=1'],
    ['fast', 'b-adapt=2:bframes=4'],
    ['medium', 'b-adapt=2:bframes=4'],
    ['slow', 'b-adapt=2:bframes=4'],
    ['slower', undefined],
  ])('with preset %s have -x264-params %j for 360p and 480p, and none for 720p', (preset, options) => {
    const rungs = planLadder({ width: 1280, height: 720 }, 25);
    expect(valuesOf(optionsOf({ rungs }, preset), '-x264-params')).toEqual([options, options, undefined]);
  });

  test('of 720p have no reference frames and no -x264-params with the default preset', () => {
    const options = optionsOf({ rungs: planLadder({ width: 1280, height: 720 }, 25) }).join(' ');
    expect(options).toContain(' -level:v:2 3.1 -crf:v:2 23 ');
  });

  test.each([
    ['veryfast', 'b-adapt=2'],
    ['ultrafast', undefined],
  ])(
    'with preset %s have -x264-params %j for each rendition of a video that has small renditions only',
    (preset, options) => {
      const rungs = planLadder({ width: 854, height: 480 }, 25);
      expect(valuesOf(optionsOf({ rungs }, preset), '-x264-params').slice(0, 2)).toEqual([options, options]);
    },
  );

  test('force key frames at frames that renditions of half the frame rate have', () => {
    const options = optionsOf(FAST);
    expect(valuesOf(options, '-force_key_frames')).toEqual([
      'expr:gte(t+0.000001,n_forced*2)',
      'expr:gte(t+0.000001,n_forced*2)',
      'expr:gte(t+0.000001,n_forced*2)*not(mod(n,2))',
    ]);
    expect(valuesOf(options, '-g')).toEqual(['51', '51', '101']);
    expect(valuesOf(options, '-level')).toEqual(['3.0', '3.0', '3.2']);
  });

  test('with passthrough take the key frames of the source', () => {
    const options = optionsOf({ videoPassthrough: true });
    expect(valuesOf(options, '-force_key_frames')).toEqual(['source', undefined, undefined]);
    expect(valuesOf(options, '-g')[0]).toBe('164');
    expect(valuesOf(options, '-c')).toEqual(['libx264', 'copy', undefined]);
  });

  test.each([
    [{ matrix: 'smpte170m', primaries: 'bt470bg', transfer: 'bt470m' }, [5, 4, 6]],
    [{ matrix: 'bt709', primaries: 'bt709', transfer: 'iec61966-2-1' }, [1, 13, 1]],
  ])('of passthrough video remove supplemental information and write the tags of %j', (colour, codes) => {
    const [primaries, transfer, matrix] = codes;
    expect(valuesOf(optionsOf({ videoPassthrough: true, colour }), '-bsf')[1]).toBe(
      'filter_units=remove_types=6,h264_metadata=' +
        `colour_primaries=${primaries}:transfer_characteristics=${transfer}:matrix_coefficients=${matrix}` +
        ':video_full_range_flag=0:sample_aspect_ratio=1/1',
    );
  });

  test('of passthrough audio drop the frames after the end', () => {
    const options = optionsOf({ audio: [audioPlan({ method: { passthroughFrames: 94 } })] });
    expect(options.slice(-4)).toEqual(['-c:a', 'copy', '-bsf:a', 'noise=drop=gte(n\\,94)']);
    expect(options).not.toContain('-b:a');
  });

  test('for several audio renditions name the stream of each', () => {
    const audio = [
      audioPlan({ method: { passthroughFrames: 94 } }),
      audioPlan({ name: 'audio2', index: 2, channels: 1 }),
      audioPlan({ name: 'surround2', index: 2, channels: 6 }),
    ];
    expect(optionsOf({ audio }).slice(-12)).toEqual([
      ...['-c:a:0', 'copy', '-bsf:a:0', 'noise=drop=gte(n\\,94)'],
      ...['-c:a:1', 'aac', '-b:a:1', '64k', '-c:a:2', 'aac', '-b:a:2', '320k'],
    ]);
  });

  test('of a video without audio are those of its renditions', () => {
    const options = optionsOf({ audio: [] });
    expect(options).toEqual(optionsOf().slice(0, -4));
  });
});
