import { describe, expect, test } from '@jest/globals';
import { DEMUXERS } from './containers.ts';
import {
  canDecodeToStereo,
  DECODE_OPTIONS,
  isAudioCodecAccepted,
  isTextCodec,
  isVideoCodecAccepted,
  PROBE_OPTIONS,
  TEXT_OPTIONS,
} from './whitelist.ts';

/** The value of an option. ffmpeg and ffprobe use the last one if it is repeated. */
function valueOf(options: readonly string[], name: string): string | undefined {
  expect(options.length % 2).toBe(0);
  return options.findLast((_, at) => at % 2 === 1 && options[at - 1] === name);
}

const listOf = (options: readonly string[], name: string) => valueOf(options, name)?.split(',') ?? [];

const OPTIONS = { DECODE_OPTIONS, TEXT_OPTIONS, PROBE_OPTIONS };

describe.each(Object.entries(OPTIONS))('%s', (_, options) => {
  test('allow files of the accepted containers only, with frames up to the maximum size', () => {
    expect(valueOf(options, '-protocol_whitelist')).toBe('file');
    expect(listOf(options, '-format_whitelist')).toEqual(DEMUXERS);
    expect(valueOf(options, '-max_pixels')).toBe('40000000');
  });

  test('have lists of different names', () => {
    const names = options.filter((option) => option.startsWith('-codec_whitelist'));
    for (const name of names) {
      const list = listOf(options, name);
      expect(list.filter((decoder) => !/^[a-z0-9_]+$/.test(decoder))).toEqual([]);
      expect(list).toEqual([...new Set(list)]);
    }
  });
});

describe('the maximum number of tracks', () => {
  test('is one more for ffprobe, so that the engine notices files with too many', () => {
    expect(Object.values(OPTIONS).map((options) => valueOf(options, '-max_streams'))).toEqual([
      ...['32', '32', '33'],
    ]);
  });
});

describe('the allowed decoders', () => {
  const ofDecode = listOf(DECODE_OPTIONS, '-codec_whitelist');
  const ofText = listOf(TEXT_OPTIONS, '-codec_whitelist');
  const ofProbe = (kind: 'v' | 'a' | 's') => listOf(PROBE_OPTIONS, `-codec_whitelist:${kind}`);

  test.each([
    ['libdav1d', 'v'],
    ['msmpeg4', 'v'],
    ['flv', 'v'],
    ['mp3float', 'a'],
    ['dca', 'a'],
    ['libvorbis', 'a'],
  ] as const)('include %s in every run', (decoder, kind) => {
    for (const list of [ofDecode, ofText, ofProbe(kind)]) expect(list).toContain(decoder);
  });

  test('are those of video and audio for a transcode, and also those of text for text tracks', () => {
    expect(ofText).toEqual([...ofDecode, ...['mov_text', 'subrip', 'srt', 'ass', 'ssa', 'webvtt', 'text']]);
  });

  test.each([
    ['png', 'v'],
    ['dolby_e', 'a'],
    ['pgssub', 's'],
    ['mov_text', 's'],
  ] as const)('of unused tracks are for ffprobe only: %s', (decoder, kind) => {
    expect(ofProbe(kind)).toContain(decoder);
    expect(ofDecode).not.toContain(decoder);
  });

  test('of each kind are for tracks of that kind', () => {
    expect(ofDecode.filter((decoder) => !ofProbe('v').includes(decoder))).toEqual(
      ofDecode.filter((decoder) => ofProbe('a').includes(decoder)),
    );
    expect(ofProbe('s').filter((decoder) => [...ofProbe('v'), ...ofProbe('a')].includes(decoder))).toEqual(
      [],
    );
  });
});

test.each([
  ['h264', 'video'],
  ['jpeg2000', 'video'],
  ['aac', 'audio'],
  ['pcm_alaw', 'audio'],
  ['subrip', 'text'],
  ['dvd_subtitle', 'none'],
  ['png', 'none'],
  ['toString', 'none'],
])('the codec %s is accepted as %s', (codec, kind) => {
  expect([isVideoCodecAccepted(codec), isAudioCodecAccepted(codec), isTextCodec(codec)]).toEqual([
    kind === 'video',
    kind === 'audio',
    kind === 'text',
  ]);
});

test('the decoders of AC-3 and E-AC-3 mix to stereo', () => {
  expect(['ac3', 'eac3', 'aac', 'dts', ''].filter(canDecodeToStereo)).toEqual(['ac3', 'eac3']);
});
