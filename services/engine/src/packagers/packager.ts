import type { Readable } from 'node:stream';
import type { Packaging } from '@framelane/contracts/packaging';
import type { ContinuedTrack, PlainEncoder } from '../encoders/encoder.ts';
import type { StreamReader } from '../encoders/stream-reader.ts';
import type { OutputFile } from '../sandbox/tool-output.ts';

/** What the packets of a segment show. */
export type SegmentInfo = {
  /** RFC 6381 string. */
  codecs: string;
  /** Presentation time of the first access unit, in seconds. */
  start: number;
  /** Video: presentation time of the last frame. Audio: the end of the last frame. In seconds. */
  last: number;
  /** Number of access units. Each one of video contains one frame. */
  units: number;
  /** Of a stream copy: its parameter set or ADTS header, in a form to compare. Null if encoded: encoders do not change it. */
  configuration: string | null;
  /** The initialization section that it needs, in base64, without what identifies the muxer; null if the packaging has none. */
  initialization: string | null;
};

/** An I-frame of a segment, as a segment of its own. */
export type IFrame = Pick<SegmentInfo, 'codecs' | 'start'> & { segment: Buffer };

/** Frames of a segment of which no other frame needs one to be decoded: a segment of their own. */
export type GroupOfPictures = {
  /** Presentation time of the first frame, in seconds. */
  start: number;
  /** The number of its frames. */
  units: number;
  segment: Buffer;
};

/** Reads the segments of one rendition. */
export type SegmentReader = {
  /** That of all segments, of a codec whose muxers know it before the first one (see `SegmentInfo`). */
  initialization: string | null;
  /**
   * Reads a finished segment from its beginning to its end. Throws
   * - an InvalidSegmentError if decoding cannot start at its beginning (HLS authoring specification 7.4), if the last audio frame of a
   *   stream copy is incomplete, or its configuration changes, as they may in the source,
   * - a retryable failure if the segment is truncated: its end is missing, or it is encoded audio whose last frame is incomplete,
   * - a ToolOutputError if it has another packaging, or its beginning cannot be parsed.
   */
  read: (segment: OutputFile, options: { isCopy: boolean }) => Promise<SegmentInfo>;
  /** Reads the I-frames of a video segment, without those that come less than `minSeconds` after the previous one. */
  iFrames: (chunks: Readable, minSeconds: number) => Promise<readonly IFrame[]>;
  /**
   * The groups of pictures of a video segment, in order: decoding can start at each. Throws if it cannot start at the beginning of the segment,
   * or the segment is truncated.
   */
  groups: (segment: Buffer) => readonly GroupOfPictures[];
  /** Presentation time of the first access unit of a segment, in seconds. Throws if it is no segment. */
  start: (segment: Buffer) => number;
  /** Seconds from the decoding of the first access unit of a segment to its presentation. */
  delay: (segment: Buffer) => number;
  /** Seconds of each frame of an audio segment. */
  frameSeconds: (segment: Buffer) => number;
};

/** Packs encoded media into segments, with muxers of ffmpeg, and reads the segments that they have written. */
export type Packager = Packaging & {
  /** ffmpeg's name of the demuxer that reads segments. */
  demuxer: string;
  /** Seconds that the muxers add to all timestamps. */
  muxerDelaySeconds: number;
  /** Whether the muxers write initialization sections to files of their own. */
  hasInitialization: boolean;
  /** Options of ffmpeg's muxer `hls`. `initialization` is the name of the file for the initialization section. */
  hlsOptions: (initialization: string) => readonly string[];
  /**
   * Options of ffmpeg's muxer `segment`. It writes nothing between two segments, so that each continues the previous one.
   *
   * @param initialization the path of the file for the initialization section
   * @param continued the initialization section of the rendition that the segments become a part of
   */
  segmentOptions: (initialization: string, continued?: Buffer | null) => readonly string[];
  /** The reader of the segments of a rendition. Throws an Error if the initialization section is missing or cannot be parsed. */
  open: (reader: StreamReader, initialization: Buffer | null) => SegmentReader;
  /** Whether bytes are a whole segment, by their structure. ffmpeg would leave out a damaged one without an error. */
  isSegment: (bytes: Buffer) => boolean;
  /** What an encoder must know of a rendition that it continues. */
  trackOf: (initialization: Buffer | null, reader: StreamReader) => ContinuedTrack;
  /** A segment that the first segment of another run can follow. Throws if it is too short for that. */
  completed: (segment: Buffer) => Buffer;
  /** A segment of another run, or a group of pictures, changed so that it follows one segment, or another follows it. */
  joined: (segment: Buffer, neighbour: { after: Buffer } | { before: Buffer }) => Buffer;
  /** A segment of another run as a part of a rendition with that codec string, which its encoder has continued. */
  adopted: (segment: Buffer, encoder: PlainEncoder, codecs: string) => Buffer;
  /**
   * The initialization section of a rendition with adopted segments, which have another one; null if the packaging has none. Throws an Error if a decoder
   * cannot have both.
   */
  extended: (
    initialization: Buffer | null,
    other: Buffer | null,
    encoder: PlainEncoder,
    codecs: string,
  ) => Buffer | null;
};

/** A segment breaks a rule of HLS. With a stream copy, encoding the source avoids that. */
export class InvalidSegmentError extends Error {
  override name = 'InvalidSegmentError';
}
