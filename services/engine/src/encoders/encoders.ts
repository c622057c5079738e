import {
  ALTERNATIVE_CODECS,
  isAudioRendition,
  partsOf,
  type TrackRendition,
  type VideoCodec,
  type VideoRendition,
} from '@framelane/contracts/renditions';
import { AAC } from './aac/aac.ts';
import { AV1 } from './av1/av1.ts';
import type { AudioEncoder, PlainEncoder, VideoEncoder } from './encoder.ts';
import { H264 } from './h264/h264.ts';
import { HEVC } from './hevc/hevc.ts';
import type { StreamReader } from './stream-reader.ts';

/** The encoder of the codec that every video has. Only its renditions are cut to clips. */
export const PLAIN_ENCODER: PlainEncoder = H264;

/** The only place that lists the encoders. */
const VIDEO_ENCODERS: Record<VideoCodec, VideoEncoder> = { h264: H264, av1: AV1, hevc: HEVC };
export const AUDIO_ENCODER: AudioEncoder = AAC;

const ALL = [...Object.values(VIDEO_ENCODERS), AUDIO_ENCODER];

/** ffmpeg's names of the encoders that every video needs, and of those of other codecs. None of them needs a device. */
export const NEEDED_PROGRAMS: readonly string[] = [PLAIN_ENCODER, AUDIO_ENCODER].map(
  ({ program }) => program,
);
export const OTHER_PROGRAMS: readonly string[] = ALTERNATIVE_CODECS.map(
  (codec) => VIDEO_ENCODERS[codec].program,
);

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
