import { describe, expect, test } from '@jest/globals';
import { SOUND_DEMUXERS, VIDEO_DEMUXERS } from './containers.ts';
import {
  canDecodeToStereo,
  DECODE_OPTIONS,
  isAudioCodecAccepted,
  isTextCodec,
  isVideoCodecAccepted,
  probeOptions,
  TEXT_OPTIONS,
} from './whitelist.ts';

/** The value of an option. ffmpeg and ffprobe use the last one if it is repeated. */
function optionValue(options: readonly string[], name: string): string | undefined {
  expect(options.length % 2).toBe(0);
  return options.findLast((_, at) => at % 2 === 1 && options[at - 1] === name);
}

const listOf = (options: readonly string[], name: string) => optionValue(options, name)?.split(',') ?? [];

const PROBE_OPTIONS = probeOptions({ readsSound: true });
const OPTIONS = { DECODE_OPTIONS, TEXT_OPTIONS, PROBE_OPTIONS };

describe.each(Object.entries(OPTIONS))('%s', (_, options) => {
  test('allow files of the accepted containers only, with frames up to the maximum size', () => {
    expect(optionValue(options, '-protocol_whitelist')).toBe('file');
    expect(listOf(options, '-format_whitelist')).toEqual([...VIDEO_DEMUXERS, ...SOUND_DEMUXERS]);
    expect(optionValue(options, '-max_pixels')).toBe('40000000');
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

test('ffprobe reads formats of sound on demand only', () => {
  const options = probeOptions({ readsSound: false });
  expect(listOf(options, '-format_whitelist')).toEqual(VIDEO_DEMUXERS);
});

describe('the maximum number of tracks', () => {
  test('is one more for ffprobe, so that the engine notices files with too many', () => {
    expect(Object.values(OPTIONS).map((options) => optionValue(options, '-max_streams'))).toEqual([
      ...['32', '32', '33'],
    ]);
  });
});

describe('the allowed decoders', () => {
  const ofDecode = listOf(DECODE_OPTIONS, '-codec_whitelist');
  const ofText = listOf(TEXT_OPTIONS, '-codec_whitelist');
  const ofProbe = (kind: 'v' | 'a' | 's') => listOf(PROBE_OPTIONS, `-codec_whitelist:${kind}`);

  test('are those of the accepted codecs', () => {
    expect(ofDecode).toEqual([
      ...['h264', 'hevc', 'libdav1d', 'av1', 'vp9', 'vp8', 'mpeg4', 'msmpeg4v2', 'msmpeg4', 'wmv1', 'wmv2'],
      ...['wmv3', 'vc1', 'mpeg2video', 'mpeg1video', 'h263', 'flv', 'theora', 'mjpeg', 'prores', 'dnxhd'],
      ...['dvvideo', 'cfhd', 'jpeg2000'],
      ...['aac', 'aac_latm', 'mp3float', 'mp3', 'mp2float', 'mp2', 'ac3', 'eac3', 'dca', 'truehd', 'wmav1'],
      ...['wmav2', 'wmapro', 'opus', 'libopus', 'vorbis', 'libvorbis', 'flac', 'alac', 'amrnb', 'amrwb'],
      ...['adpcm_ima_qt', 'adpcm_ima_wav', 'adpcm_ms', 'pcm_s8', 'pcm_u8', 'pcm_s16le', 'pcm_s16be'],
      ...['pcm_s24le', 'pcm_s24be', 'pcm_s32le', 'pcm_s32be', 'pcm_f32le', 'pcm_f32be', 'pcm_f64le'],
      ...['pcm_f64be', 'pcm_bluray', 'pcm_dvd', 'pcm_mulaw', 'pcm_alaw'],
    ]);
  });

  test('are those of video and audio for a transcode, and also those of text for text tracks', () => {
    expect(ofText).toEqual([...ofDecode, ...['mov_text', 'subrip', 'srt', 'ass', 'ssa', 'webvtt', 'text']]);
  });

  test.each([
    ['png', 'v'],
    ['mlp', 'a'],
    ['dolby_e', 'a'],
    ['qdm2', 'a'],
    ['g722', 'a'],
    ['cook', 'a'],
    ['imc', 'a'],
    ['pcm_s24daud', 'a'],
    ['pcm_u16be', 'a'],
    ['dst', 'a'],
    ['pgssub', 's'],
    ['mov_text', 's'],
  ] as const)('are for ffprobe only, if a transcode does not use the tracks: %s', (decoder, kind) => {
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
