import type { Hardware } from '@framelane/contracts/hardware';
import type { AudioPlan, Colour } from '@framelane/contracts/transcode-plan';
import type { AudioTrack, Size, VideoTrack } from '../source/media-source.ts';
import type { PlainStreamReader, StreamReader } from './stream-reader.ts';

/** The presets of the engine, fastest first. They have the names of x264's. */
export const PRESETS = [
  'ultrafast',
  'superfast',
  'veryfast',
  'faster',
  'fast',
  'medium',
  'slow',
  'slower',
  'veryslow',
] as const;

/** What a video rendition demands of its encoder. */
export type VideoDemands = Size & {
  framesPerSecond: number;
  /** Bits per second, and bits. */
  maxRate: number;
  bufferSize: number;
  preset: string;
  /** Small renditions get more time. */
  isSmall: boolean;
};

/** An option of ffmpeg for one output stream, and its value. */
export type StreamOption = readonly [name: string, value: string];

/** A stored rendition that other frames continue. */
export type ContinuedTrack = {
  /** Units of the timestamps that the muxer writes, in a second. */
  timescale: number;
  /** What configures its decoder, if the packaging has initialization sections (see `SampleReader`). */
  configuration: Buffer | null;
};

/** An encoder of ffmpeg. */
export type FrameEncoder = {
  /** ffmpeg's name. */
  program: string;
  /** The options that only this encoder has. All encoders get a maximum rate, key frames and a number of threads. */
  options: (demands: VideoDemands) => readonly StreamOption[];
};

/** What some devices of an interface can do and others cannot, as options. */
export type HardwareVariant = { name: string; options: readonly StreamOption[] };

/** The encoder of a device. Its packets pass the filters of a copy: what drivers write beside the frames differs. */
export type HardwareEncoder = FrameEncoder & {
  /** The smallest and the largest frames that devices of the interface encode. */
  smallest: Size;
  largest: Size;
  /** From the best to the most modest. An engine uses the first one that its device can do. */
  variants: readonly HardwareVariant[];
  /** Why players may refuse a stream with this codec string; null if they do not. */
  obstacle: (codecs: string) => string | null;
};

/** Makes renditions in one video codec, with encoders of ffmpeg. The software encoder needs no device. */
export type VideoEncoder = FrameEncoder & {
  /** ffmpeg's name of the decoder of what it makes. */
  decoder: string;
  /** The smallest frames that it encodes; absent if it encodes all. */
  smallest?: Size;
  /** The part of the maximum bit rate of H.264 that it needs for the same picture. */
  rateFactor: number;
  /** Its encoders on devices. */
  hardware: Partial<Record<Hardware, HardwareEncoder>>;
  reader: StreamReader;
  /** The property of a track that the codec's decoders in players do not support; null if there is none. */
  copyObstacle: (track: VideoTrack) => 'codec' | 'profile' | 'level' | null;
  /** The bitstream filters of a copy. Its packets then have the parameters of encoded ones. */
  copyFilters: (colour: Colour) => string;
  /** The other options of a copy, those of encoded renditions. */
  copyOptions?: readonly StreamOption[];
  /** The bitstream filters that leave only what configures a decoder, to find out whether that changes. */
  configurationFilters: string;
  /** Whether the frames of a copy may have that, too. Otherwise, the filters must leave nothing. */
  framesMayConfigure: boolean;
};

/** The encoder of a codec whose renditions clips can continue. */
export type PlainEncoder = VideoEncoder & {
  reader: PlainStreamReader;
  /**
   * How to encode frames that continue a stream copy. A decoder needs no new configuration other than parameter sets, and the decoding times go
   * on.
   *
   * @param codecs the codec string of the copy
   * @param delaySeconds by how much its frames are decoded before they are presented
   */
  continuation: (codecs: string, delaySeconds: number, track: ContinuedTrack) => readonly StreamOption[];
  /** Makes the parameter sets at the beginning of an access unit declare the codec string, in place. */
  declare: (beginning: Buffer, codecs: string) => void;
  /**
   * A configuration with the parameter sets of another one, which declare the codec string then. Throws if a set has the id of another set.
   */
  extended: (configuration: Buffer, other: Buffer, codecs: string) => Buffer;
};

/** The same for audio. */
export type AudioEncoder = {
  program: string;
  decoder: string;
  options: (channels: AudioPlan['channels']) => readonly StreamOption[];
  copyObstacle: (track: AudioTrack) => 'codec' | 'profile' | 'channels' | 'sample_rate' | null;
  reader: PlainStreamReader;
};
