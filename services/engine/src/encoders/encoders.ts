import {
  isAudioRendition,
  partsOf,
  type TrackRendition,
  type VideoCodec,
  type VideoRendition,
} from '@framelane/contracts/renditions';
import { AAC } from './aac/aac.ts';
import type { AudioEncoder, VideoEncoder } from './encoder.ts';
import { H264 } from './h264/h264.ts';
import type { StreamReader } from './stream-reader.ts';

/** The only place that lists the encoders. */
const VIDEO_ENCODERS: Record<VideoCodec, VideoEncoder> = { h264: H264 };
export const AUDIO_ENCODER: AudioEncoder = AAC;

const ALL = [...Object.values(VIDEO_ENCODERS), AUDIO_ENCODER];

/** ffmpeg's names of all encoders that need no device. */
export const ENCODER_PROGRAMS: readonly string[] = ALL.map(({ program }) => program);

/** ffmpeg's names of the decoders of all renditions. */
export const RENDITION_DECODERS: readonly string[] = ALL.map(({ decoder }) => decoder);

/** The encoder of a video rendition. */
export function encoderOf(name: VideoRendition): VideoEncoder {
  return VIDEO_ENCODERS[partsOf(name).codec];
}

/** The encoder of a codec. */
export function encoderOfCodec(codec: VideoCodec): VideoEncoder {
  return VIDEO_ENCODERS[codec];
}

/** The reader of the segments of a rendition. */
export function readerOf(name: TrackRendition): StreamReader {
  return (isAudioRendition(name) ? AUDIO_ENCODER : encoderOf(name)).reader;
}
