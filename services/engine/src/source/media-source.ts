import { canonicalLanguage } from '@framelane/contracts/languages';
import type { AudioRole } from '@framelane/contracts/renditions';
import type { DynamicRange, Turn } from '@framelane/contracts/transcode-plan';
import { z } from 'zod';
import { refusal } from '../transcode-failure.ts';
import { containerTraits } from './containers.ts';
import type { ShownPart } from './edit-lists.ts';
import { type FrameRate, toNumber } from './frame-rate.ts';
import { swapsSides, turnOf } from './orientation.ts';
import { probedChapters, readChapters, type SourceChapters } from './source-chapters.ts';
import { MAX_TRACKS } from './whitelist.ts';

/** Width and height in pixels. */
export type Size = { width: number; height: number };

/** A video track as its container describes it. */
export type VideoTrack = {
  /** Position among all tracks of the file. */
  index: number;
  codec: string;
  /** ffmpeg's name, e.g. `High`. */
  profile: string;
  /** Ten times the level number, as H.264 writes it. */
  level: number;
  encrypted: boolean;
  /** Pixels as coded. */
  coded: Size;
  /** Whether the pixel aspect ratio is exactly 1. */
  squarePixels: boolean;
  /** How frames must be rotated or mirrored for display. */
  turn: Turn;
  /** Size for display: rotated, with square pixels. */
  display: Size;
  /** ffmpeg's name, e.g. `yuv420p10le`. */
  pixelFormat: string;
  /** Whether samples use the full range of values (0 to 255 at 8 bits). */
  fullRange: boolean;
  interlaced: boolean;
  /** True if the container does not declare whether the video is interlaced: frames must be decoded to find out. */
  scanTypeUnknown: boolean;
  dynamicRange: DynamicRange;
  /** ffmpeg's name of the matrix coefficients; null if the file does not declare them. */
  colorMatrix: string | null;
  /** ffmpeg's names of the primaries and the transfer function; null if not declared. */
  colorPrimaries: string | null;
  colorTransfer: string | null;
  /** Whether only a Dolby Vision decoder can read the colours. Players and ffmpeg have none. */
  needsDolbyVision: boolean;
  declaredRate: FrameRate | null;
  /** Seconds; null if the file does not declare it. */
  declaredDuration: number | null;
  /** Whether the container has an index of all frames. It may be at the end of the file. */
  isIndexed: boolean;
  isDefault: boolean;
  /** The second of the file at which the edit list ends the track; Infinity or undefined if it does not end before its packets. */
  shownUntil?: number;
};

export type AudioTrack = {
  index: number;
  codec: string;
  /** ffmpeg's name, e.g. `LC`. */
  profile: string;
  encrypted: boolean;
  /** Samples per second. */
  sampleRate: number;
  channels: number;
  /** Seconds, by the index of the track; null without an index. */
  declaredDuration: number | null;
  /** BCP 47; null if the file does not declare it. */
  language: string | null;
  /** As the file has it; null if it has none. */
  title: string | null;
  /** Null for ordinary audio. */
  role: AudioRole | null;
  isDefault: boolean;
  /** See VideoTrack. */
  shownUntil?: number;
};

/** A cover picture, as its container describes it. */
export type Cover = { index: number; codec: string; size: Size };

/** A track of any kind, as messages name it. */
export type TrackName = {
  index: number;
  kind: 'video' | 'audio' | 'subtitles';
  codec: string;
  /** BCP 47; null if the file does not declare it. */
  language: string | null;
  title?: string | undefined;
  /** What the container calls the track; undefined if it has no ids. */
  id?: number | undefined;
  /** What is shown of a text track, if the container has edit lists. ffmpeg applies them to frames only. */
  shown?: readonly ShownPart[] | undefined;
  /** Why the track cannot be used, as part of a sentence. */
  flaw?: string | undefined;
};

/** A file as its container describes it. The description is not verified yet. */
export type MediaSource = {
  container: string;
  /** Earliest timestamp of all tracks, in seconds. */
  startTime: number;
  /** Earliest timestamp of each track in seconds, by index; NaN if unknown. */
  startTimes: readonly number[];
  /** Seconds from zero to the end of the longest track; null unless the container declares the duration of the file only. */
  declaredDuration: number | null;
  /** Without cover images. */
  videoTracks: VideoTrack[];
  audioTracks: AudioTrack[];
  covers: Cover[];
  /** All video, audio and subtitle tracks in file order, without cover images. */
  tracks: TrackName[];
  chapters: SourceChapters;
  /** The video and audio tracks that ffprobe has found, but not the parameters of their content: it begins late, or is missing. */
  withoutParameters: readonly number[];
};

/** The ffprobe entries that `readSource` reads. */
export const PROBED_ENTRIES = [
  'stream=index,id,codec_type,codec_name,profile,level,codec_tag_string,width,height,sample_aspect_ratio,pix_fmt,' +
    'color_range,field_order,color_space,color_primaries,color_transfer,r_frame_rate,start_time,duration,nb_frames,sample_rate,channels',
  'stream_tags=language,title',
  'stream_disposition=default,attached_pic,comment,hearing_impaired,visual_impaired,descriptions',
  'stream_side_data=displaymatrix,dv_profile,dv_bl_signal_compatibility_id',
  'format=format_name,start_time,duration',
  'format_tags=major_brand',
].join(':');

const probedStream = z.object({
  index: z.int(),
  id: z.coerce.number().optional(),
  codec_type: z.string().optional(),
  codec_name: z.string().default('unknown'),
  profile: z.string().default(''),
  level: z.int().default(0),
  codec_tag_string: z.string().default(''),
  width: z.int().default(0),
  height: z.int().default(0),
  sample_aspect_ratio: z.string().default(''),
  pix_fmt: z.string().default(''),
  color_range: z.string().default(''),
  field_order: z.string().default(''),
  color_space: z.string().optional(),
  color_primaries: z.string().optional(),
  color_transfer: z.string().optional(),
  r_frame_rate: z.string().default(''),
  start_time: z.string().optional(),
  duration: z.coerce.number().optional(),
  nb_frames: z.coerce.number().default(0),
  sample_rate: z.coerce.number().default(0),
  channels: z.int().default(0),
  disposition: z.object({
    default: z.int(),
    attached_pic: z.int(),
    comment: z.int().default(0),
    hearing_impaired: z.int().default(0),
    visual_impaired: z.int().default(0),
    descriptions: z.int().default(0),
  }),
  tags: z.object({ language: z.string().optional(), title: z.string().optional() }).default({}),
  side_data_list: z
    .array(
      z.object({
        displaymatrix: z.string().optional(),
        dv_profile: z.int().optional(),
        dv_bl_signal_compatibility_id: z.int().optional(),
      }),
    )
    .default([]),
});
type ProbedStream = z.infer<typeof probedStream>;

const probedFile = z.object({
  streams: z.array(probedStream),
  chapters: probedChapters,
  format: z.object({
    format_name: z.string(),
    start_time: z.string().optional(),
    duration: z.coerce.number().optional(),
    tags: z.object({ major_brand: z.string().optional() }).default({}),
  }),
});

/** Pixels count as square if their aspect ratio differs from 1 by less than this. */
const ASPECT_TOLERANCE = 0.005;

/** Codecs that can be interlaced. */
const INTERLACED_CODECS = ['h264', 'mpeg2video', 'mpeg4', 'mjpeg', 'prores', 'dnxhd', 'dvvideo', 'vc1'];

/** Reads ffprobe's description of a file, in JSON. Throws if it does not have the expected form, and a refusal if the file has too many tracks. */
export function readSource(described: unknown): MediaSource {
  const { streams, chapters, format } = probedFile.parse(described);
  if (streams.length > MAX_TRACKS) throw refusal('malformed_media', 'The file has too many tracks.');
  const container = containerName(format.format_name, format.tags.major_brand);
  const startTime = Number(format.start_time ?? 0);
  const displayed = streams.filter((stream) => stream.disposition.attached_pic === 0);
  const moving = withoutImageItems(displayed, container);
  return {
    container,
    startTime,
    declaredDuration: containerTraits(container).duration === 'file' ? (format.duration ?? null) : null,
    videoTracks: moving
      .filter((stream) => stream.codec_type === 'video')
      .map((stream) => videoTrack(stream, container, startTime)),
    audioTracks: streams
      .filter((stream) => stream.codec_type === 'audio')
      .map((stream) => audioTrack(stream, container, startTime)),
    covers: streams
      .filter((stream) => stream.disposition.attached_pic === 1 && stream.codec_type === 'video')
      .map(({ index, codec_name: codec, width, height }) => ({ index, codec, size: { width, height } })),
    tracks: moving.flatMap(trackName),
    chapters: readChapters(chapters, startTime),
    startTimes: streams.map(({ start_time }) => Number(start_time)),
    withoutParameters: moving.filter(lacksParameters).map(({ index }) => index),
  };
}

/**
 * The tracks without the images of a file that also has video (HEIF, such as the first picture of a sequence in AVIF). Only newer versions of
 * ffmpeg read them (7.1, but not 5.1), as tracks of one frame without a duration.
 */
function withoutImageItems(streams: ProbedStream[], container: string): ProbedStream[] {
  if (containerTraits(container).duration !== 'index') return streams;
  const isImage = ({ codec_type, duration, nb_frames }: ProbedStream) =>
    codec_type === 'video' && nb_frames === 1 && duration === undefined;
  const others = streams.filter((stream) => !isImage(stream));
  return others.some(({ codec_type }) => codec_type === 'video') ? others : streams;
}

function lacksParameters({ codec_type, width, height, channels, sample_rate }: ProbedStream): boolean {
  if (codec_type === 'video') return width === 0 || height === 0;
  return codec_type === 'audio' && (channels === 0 || sample_rate === 0);
}

/** A key of the table of containers. One demuxer reads both MP4 and QuickTime. */
function containerName(formatName: string, majorBrand: string | undefined): string {
  const [first = formatName] = formatName.split(',');
  if (first !== 'mov') return first;
  return majorBrand === undefined || majorBrand.trim() === 'qt' ? 'mov' : 'mp4';
}

/** A track in messages, e.g. `2 (audio, aac, de)`. Track numbers start at one. */
export function describeTrack({ index, kind, codec, language }: TrackName): string {
  return `${index + 1} (${[kind, codec, ...(language ? [language] : [])].join(', ')})`;
}

const KINDS: Record<string, TrackName['kind']> = { video: 'video', audio: 'audio', subtitle: 'subtitles' };

function trackName({ index, id, codec_type, codec_name, tags }: ProbedStream): TrackName[] {
  const kind = KINDS[codec_type ?? ''];
  return kind
    ? [{ index, id, kind, codec: codec_name, language: languageTag(tags.language), title: tags.title }]
    : [];
}

function videoTrack(stream: ProbedStream, container: string, startTime: number): VideoTrack {
  const coded = { width: stream.width, height: stream.height };
  return {
    index: stream.index,
    codec: stream.codec_name,
    profile: stream.profile,
    level: stream.level,
    encrypted: isEncrypted(stream),
    coded,
    squarePixels: aspectOf(stream) === 1,
    turn: turn(stream),
    display: displaySize(coded, stream),
    pixelFormat: stream.pix_fmt,
    fullRange: stream.color_range === 'pc' || stream.pix_fmt.startsWith('yuvj'),
    interlaced: ['tt', 'bb', 'tb', 'bt'].includes(stream.field_order),
    scanTypeUnknown:
      ['', 'unknown'].includes(stream.field_order) && INTERLACED_CODECS.includes(stream.codec_name),
    dynamicRange: dynamicRange(stream.color_transfer),
    colorMatrix: known(stream.color_space),
    colorPrimaries: known(stream.color_primaries),
    colorTransfer: known(stream.color_transfer),
    needsDolbyVision: needsDolbyVision(stream),
    declaredRate: fraction(stream.r_frame_rate, '/'),
    declaredDuration: declaredDuration(stream, container, startTime),
    isIndexed: stream.nb_frames > 0,
    isDefault: stream.disposition.default === 1,
  };
}

function audioTrack(stream: ProbedStream, container: string, startTime: number): AudioTrack {
  const isIndexed = containerTraits(container).duration === 'index';
  return {
    index: stream.index,
    codec: stream.codec_name,
    profile: stream.profile,
    encrypted: isEncrypted(stream),
    sampleRate: stream.sample_rate,
    channels: stream.channels,
    declaredDuration: isIndexed ? declaredDuration(stream, container, startTime) : null,
    language: languageTag(stream.tags.language),
    title: stream.tags.title ?? null,
    role: audioRole(stream.disposition),
    isDefault: stream.disposition.default === 1,
  };
}

function audioRole(disposition: ProbedStream['disposition']): AudioRole | null {
  if (disposition.visual_impaired === 1 || disposition.descriptions === 1) return 'audio_description';
  if (disposition.comment === 1) return 'commentary';
  return disposition.hearing_impaired === 1 ? 'clear_speech' : null;
}

function declaredDuration(stream: ProbedStream, container: string, startTime: number): number | null {
  const { duration } = containerTraits(container);
  if (duration === 'file') return null;
  if (duration === 'index' && stream.duration !== undefined) {
    // ffprobe measures the duration of edit lists and of fragments from zero, not from their first timestamp.
    return stream.duration - Math.max(0, startTime);
  }
  if (duration !== 'frame_count') return stream.duration ?? null;
  // ffprobe estimates the duration of an AVI file without an index from its size; the number of frames is exact.
  const rate = fraction(stream.r_frame_rate, '/');
  return rate && stream.nb_frames > 0 ? stream.nb_frames / toNumber(rate) : null;
}

/** Recognizes the sample entries of FairPlay. Common encryption is visible in the packets only. */
function isEncrypted({ codec_tag_string }: ProbedStream): boolean {
  return ['drmi', 'drms'].includes(codec_tag_string);
}

function displaySize(coded: Size, stream: ProbedStream): Size {
  const unrotated = {
    width: Math.max(1, Math.round(coded.width * displayAspectOf(stream))),
    height: coded.height,
  };
  return swapsSides(turn(stream)) ? { width: unrotated.height, height: unrotated.width } : unrotated;
}

/** The pixel aspect ratio used for display; 1 if only rounding can explain the difference. */
function displayAspectOf(stream: ProbedStream): number {
  const aspect = aspectOf(stream);
  return Math.abs(aspect - 1) < ASPECT_TOLERANCE ? 1 : aspect;
}

/** The declared pixel aspect ratio: width by height; 1 if not declared. */
function aspectOf(stream: ProbedStream): number {
  const aspect = fraction(stream.sample_aspect_ratio, ':');
  return aspect ? aspect.numerator / aspect.denominator : 1;
}

function turn(stream: ProbedStream): Turn {
  return turnOf(
    stream.side_data_list.find((entry) => entry.displaymatrix !== undefined)?.displaymatrix ?? '',
  );
}

/** Dolby Vision profiles whose base layer is SDR or HDR10. Early configuration records of them have no compatibility id; ffprobe writes 0. */
const PROFILES_WITH_BASE_LAYER = [4, 7];
/** Sample entries of HEVC whose base layer alone is not meant to be displayed. The configuration record, if there is one, is more exact. */
const DOLBY_VISION_ENTRIES = ['dvh1', 'dvhe'];

function needsDolbyVision({ side_data_list, codec_tag_string }: ProbedStream): boolean {
  const record = side_data_list.find((entry) => entry.dv_bl_signal_compatibility_id !== undefined);
  if (record === undefined) return DOLBY_VISION_ENTRIES.includes(codec_tag_string);
  const { dv_bl_signal_compatibility_id: compatibility, dv_profile: profile = Number.NaN } = record;
  return compatibility === 0 && !PROFILES_WITH_BASE_LAYER.includes(profile);
}

function dynamicRange(transfer: string | undefined): DynamicRange {
  if (transfer === 'smpte2084') return 'pq';
  return transfer === 'arib-std-b67' ? 'hlg' : 'sdr';
}

function known(value: string | undefined): string | null {
  return value === undefined || value === 'unknown' || value === 'reserved' ? null : value;
}

/** A positive fraction, or null: ffprobe writes `0/0` or `0:1` for unknown values. */
function fraction(text: string, separator: string): FrameRate | null {
  const [numerator = 0, denominator = 0] = text.split(separator).map(Number);
  return numerator > 0 && denominator > 0 ? { numerator, denominator } : null;
}

/** Containers use three-letter codes (ISO 639-2). Players expect the shortest form (RFC 5646 §2.2.1). */
function languageTag(code: string | undefined): string | null {
  return code === undefined || code === 'und' ? null : (canonicalLanguage(code) ?? null);
}
