import { DEMUXERS } from '../source/containers.ts';

/**
 * What ffmpeg and ffprobe may do with an uploaded file. Without these options a text file that names other files (an
 * HLS playlist, a concat list) makes them open those.
 */

/** Decoders for each codec accepted, by the codec's name. */
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

/**
 * Decoders of tracks that are left out. ffprobe opens a decoder for each track of a file, and fails when it may not: there is no
 * option against that. These are opened and get no packet.
 */
const UNUSED_TRACK_DECODERS = {
  /** Cover pictures count as video. */
  video: ['png', 'bmp', 'gif', 'webp', 'tiff', 'dirac'],
  audio: [
    'mlp',
    's302m',
    'wmavoice',
    'wmalossless',
    'wavpack',
    'tta',
    'libspeex',
    'speex',
    'nellymoser',
    'g726',
    'gsm_ms',
  ],
  subtitle: [
    ...['mov_text', 'subrip', 'srt', 'text', 'ass', 'ssa', 'webvtt', 'dvbsub', 'dvdsub', 'pgssub', 'xsub'],
    ...['cc_dec', 'libzvbi_teletextdec', 'libaribb24', 'libaribcaption'],
  ],
};

const MAX_TRACKS = 32;
/** Pixels of one picture. */
export const MAX_PIXELS = 40_000_000;

const names = (decoders: Record<string, readonly string[]>) => Object.values(decoders).flat();

const COMMON_OPTIONS = [
  ...['-protocol_whitelist', 'file'],
  ...['-format_whitelist', DEMUXERS.join(',')],
  ...['-max_streams', String(MAX_TRACKS)],
  ...['-max_pixels', String(MAX_PIXELS)],
];

/**
 * Options in front of the input of ffmpeg. The list of decoders also holds for those that a demuxer opens to learn more about
 * its tracks, which are the only ones that get packets beside those of the tracks that are asked for.
 */
export const DECODE_OPTIONS: readonly string[] = [
  ...COMMON_OPTIONS,
  ...['-codec_whitelist', [...names(VIDEO_DECODERS), ...names(AUDIO_DECODERS)].join(',')],
];

/** Options in front of the input of ffprobe. Where there are several lists for a track, ffprobe's own decoders follow the last. */
export const PROBE_OPTIONS: readonly string[] = [
  ...DECODE_OPTIONS,
  ...['-codec_whitelist:v', [...names(VIDEO_DECODERS), ...UNUSED_TRACK_DECODERS.video].join(',')],
  ...['-codec_whitelist:a', [...names(AUDIO_DECODERS), ...UNUSED_TRACK_DECODERS.audio].join(',')],
  ...['-codec_whitelist:s', UNUSED_TRACK_DECODERS.subtitle.join(',')],
];

export function isVideoCodecAccepted(codec: string): boolean {
  return Object.hasOwn(VIDEO_DECODERS, codec);
}

export function isAudioCodecAccepted(codec: string): boolean {
  return Object.hasOwn(AUDIO_DECODERS, codec);
}

/** Whether the decoder of a codec can itself make stereo of surround sound (its option `downmix`). */
export function canDecodeToStereo(codec: string): boolean {
  return ['ac3', 'eac3'].includes(codec);
}
