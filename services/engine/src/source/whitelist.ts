import type { WatermarkFormat } from '@framelane/contracts/watermark';
import { SOUND_DEMUXERS, VIDEO_DEMUXERS } from './containers.ts';

/**
 * What ffmpeg and ffprobe may do with an uploaded file. Without these options, a text file that names other files, such as an HLS
 * playlist or a concat list, makes ffmpeg open them.
 */

/** The decoders of each accepted codec, by the name of the codec. */
const VIDEO_DECODERS: Record<string, readonly string[]> = {
  h264: ['h264'],
  hevc: ['hevc'],
  av1: ['libdav1d', 'av1'],
  vp9: ['vp9'],
  vp8: ['vp8'],
  mpeg4: ['mpeg4'],
  msmpeg4v2: ['msmpeg4v2'],
  msmpeg4v3: ['msmpeg4'],
  wmv1: ['wmv1'],
  wmv2: ['wmv2'],
  wmv3: ['wmv3'],
  vc1: ['vc1'],
  mpeg2video: ['mpeg2video'],
  mpeg1video: ['mpeg1video'],
  h263: ['h263'],
  flv1: ['flv'],
  theora: ['theora'],
  mjpeg: ['mjpeg'],
  prores: ['prores'],
  dnxhd: ['dnxhd'],
  dvvideo: ['dvvideo'],
  cfhd: ['cfhd'],
  jpeg2000: ['jpeg2000'],
};
const AUDIO_DECODERS: Record<string, readonly string[]> = {
  aac: ['aac'],
  aac_latm: ['aac_latm'],
  mp3: ['mp3float', 'mp3'],
  mp2: ['mp2float', 'mp2'],
  ac3: ['ac3'],
  eac3: ['eac3'],
  dts: ['dca'],
  truehd: ['truehd'],
  wmav1: ['wmav1'],
  wmav2: ['wmav2'],
  wmapro: ['wmapro'],
  opus: ['opus', 'libopus'],
  vorbis: ['vorbis', 'libvorbis'],
  flac: ['flac'],
  alac: ['alac'],
  amr_nb: ['amrnb'],
  amr_wb: ['amrwb'],
  adpcm_ima_qt: ['adpcm_ima_qt'],
  adpcm_ima_wav: ['adpcm_ima_wav'],
  adpcm_ms: ['adpcm_ms'],
  pcm_s8: ['pcm_s8'],
  pcm_u8: ['pcm_u8'],
  pcm_s16le: ['pcm_s16le'],
  pcm_s16be: ['pcm_s16be'],
  pcm_s24le: ['pcm_s24le'],
  pcm_s24be: ['pcm_s24be'],
  pcm_s32le: ['pcm_s32le'],
  pcm_s32be: ['pcm_s32be'],
  pcm_f32le: ['pcm_f32le'],
  pcm_f32be: ['pcm_f32be'],
  pcm_f64le: ['pcm_f64le'],
  pcm_f64be: ['pcm_f64be'],
  pcm_bluray: ['pcm_bluray'],
  pcm_dvd: ['pcm_dvd'],
  pcm_mulaw: ['pcm_mulaw'],
  pcm_alaw: ['pcm_alaw'],
};

/** The decoders of text tracks, by the name of the codec. Subtitles in other codecs are images, teletext or closed captions. */
const TEXT_DECODERS: Record<string, readonly string[]> = {
  mov_text: ['mov_text'],
  subrip: ['subrip', 'srt'],
  ass: ['ass', 'ssa'],
  webvtt: ['webvtt'],
  text: ['text'],
};

/**
 * Decoders of tracks that the engine does not use. ffprobe opens a decoder for each track, and fails if that decoder is not
 * allowed. No option changes this. These decoders are opened but get no packet.
 */
const UNUSED_TRACK_DECODERS = {
  /** Cover images count as video. */
  video: ['png', 'bmp', 'gif', 'webp', 'tiff', 'dirac'],
  audio: [
    ...['mlp', 's302m', 'wmavoice', 'wmalossless', 'wavpack', 'tta', 'libspeex', 'speex', 'nellymoser'],
    ...['mp1float', 'mp1', 'mp3adufloat', 'mp3adu', 'mp3on4float', 'mp3on4', 'als', 'ape', 'tak', 'dolby_e'],
    ...['qdm2', 'qdmc', 'mace3', 'mace6', 'qcelp', 'evrc', 'ilbc', 'gsm', 'libgsm', 'gsm_ms', 'libgsm_ms'],
    ...['g722', 'g726', 'g726le', 'g723_1', 'g729', 'adpcm_swf', 'adpcm_yamaha', 'adpcm_g722', 'truespeech'],
    ...['cook', 'sipr', 'ralf', 'real_144', 'real_288', 'atrac3', 'atrac3plus', 'atrac3al', 'atrac3plusal'],
    ...[
      'dvaudio',
      'imc',
      'iac',
      'metasound',
      'xma1',
      'xma2',
      'pcm_f16le',
      'pcm_f24le',
      'pcm_lxf',
      'pcm_vidc',
    ],
    ...['pcm_s24daud', 'pcm_s16le_planar', 'pcm_s16be_planar', 'pcm_s24le_planar', 'pcm_s32le_planar'],
    ...['pcm_s8_planar', 'pcm_u16be', 'pcm_u16le', 'pcm_u24be', 'pcm_u24le', 'pcm_u32be', 'pcm_u32le'],
    ...['pcm_s64be', 'pcm_s64le', 'dsd_lsbf', 'dsd_msbf', 'dsd_lsbf_planar', 'dsd_msbf_planar', 'dst'],
  ],
  subtitle: [
    ...[
      'dvbsub',
      'dvdsub',
      'pgssub',
      'xsub',
      'cc_dec',
      'libzvbi_teletextdec',
      'libaribb24',
      'libaribcaption',
    ],
  ],
};

/** The decoders of cover pictures that become posters, by the name of the codec. */
const COVER_DECODERS: Record<string, readonly string[]> = { mjpeg: ['mjpeg'], png: ['png'] };

/** The demuxer and the decoder of each format of watermark images. A pipe demuxer reads the images of one file, whatever its name is. */
const WATERMARK_READERS: Record<WatermarkFormat, { demuxer: string; decoder: string }> = {
  png: { demuxer: 'png_pipe', decoder: 'png' },
  jpeg: { demuxer: 'jpeg_pipe', decoder: 'mjpeg' },
};

/** Maximum number of tracks of a file. */
export const MAX_TRACKS = 32;
/** Maximum width and height of a frame, in pixels. */
export const MAX_SIDE = 8192;
/** Maximum pixels of one frame. */
export const MAX_PIXELS = 40_000_000;

const names = (decoders: Record<string, readonly string[]>) => Object.values(decoders).flat();

const readsFormats = (demuxers: readonly string[]) => ['-format_whitelist', demuxers.join(',')];

const COMMON_OPTIONS = [
  ...['-protocol_whitelist', 'file'],
  ...['-max_streams', String(MAX_TRACKS)],
  ...['-max_pixels', String(MAX_PIXELS)],
];

/** The formats that ffmpeg reads. ffprobe has read the file before, and its list is shorter unless sound alone is accepted. */
const FORMAT_OPTIONS = [...COMMON_OPTIONS, ...readsFormats([...VIDEO_DEMUXERS, ...SOUND_DEMUXERS])];

const DECODERS = [...names(VIDEO_DECODERS), ...names(AUDIO_DECODERS)];

/**
 * Input options of ffmpeg. The list of decoders also applies to decoders that a demuxer opens to analyse its tracks. Only those and
 * the decoders of the mapped tracks get packets.
 */
export const DECODE_OPTIONS: readonly string[] = [
  ...FORMAT_OPTIONS,
  ...['-codec_whitelist', DECODERS.join(',')],
];

/** Input options of a run of ffmpeg that decodes a cover picture. */
export const COVER_OPTIONS: readonly string[] = [
  ...FORMAT_OPTIONS,
  ...['-codec_whitelist', [...DECODERS, ...names(COVER_DECODERS)].join(',')],
];

/** Input options of the run of ffmpeg that reads text tracks. */
export const TEXT_OPTIONS: readonly string[] = [
  ...FORMAT_OPTIONS,
  ...['-codec_whitelist', [VIDEO_DECODERS, AUDIO_DECODERS, TEXT_DECODERS].flatMap(names).join(',')],
];

/** Input options of ffmpeg and ffprobe for the image of a watermark. */
export function watermarkOptions(format: WatermarkFormat): string[] {
  const { demuxer, decoder } = WATERMARK_READERS[format];
  return ['-f', demuxer, ...COMMON_OPTIONS, ...readsFormats([demuxer]), '-codec_whitelist', decoder];
}

/** Input options of ffprobe beside the formats. If several lists apply to a track, ffprobe uses the last one for the decoder that it opens itself. */
const PROBE_OPTIONS: readonly string[] = [
  ...COMMON_OPTIONS,
  ...['-codec_whitelist', DECODERS.join(',')],
  // From version 7 on, ffprobe reads the allowed number of tracks of a Matroska file that has more.
  ...['-max_streams', String(MAX_TRACKS + 1)],
  ...['-codec_whitelist:v', [...names(VIDEO_DECODERS), ...UNUSED_TRACK_DECODERS.video].join(',')],
  ...['-codec_whitelist:a', [...names(AUDIO_DECODERS), ...UNUSED_TRACK_DECODERS.audio].join(',')],
  ...['-codec_whitelist:s', [...names(TEXT_DECODERS), ...UNUSED_TRACK_DECODERS.subtitle].join(',')],
];

/** Input options of ffprobe. Formats of sound are read only on demand: each demuxer adds code that reads hostile bytes. */
export function probeOptions({ readsSound }: { readsSound: boolean }): string[] {
  return [...PROBE_OPTIONS, ...readsFormats([...VIDEO_DEMUXERS, ...(readsSound ? SOUND_DEMUXERS : [])])];
}

export function isVideoCodecAccepted(codec: string): boolean {
  return Object.hasOwn(VIDEO_DECODERS, codec);
}

export function isAudioCodecAccepted(codec: string): boolean {
  return Object.hasOwn(AUDIO_DECODERS, codec);
}

/** Whether a cover picture in this codec can become the poster. */
export function isCoverCodec(codec: string): boolean {
  return Object.hasOwn(COVER_DECODERS, codec);
}

/** Whether tracks of a codec contain text that becomes captions. */
export function isTextCodec(codec: string): boolean {
  return Object.hasOwn(TEXT_DECODERS, codec);
}

/** Whether the decoder of a codec can mix surround audio to stereo itself (option `downmix`). */
export function canDecodeToStereo(codec: string): boolean {
  return ['ac3', 'eac3'].includes(codec);
}
