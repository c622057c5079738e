import type { Readable } from 'node:stream';
import type { Packaging } from '@framelane/contracts/packaging';
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

/** Packs encoded media into segments, with muxers of ffmpeg, and reads the segments that they have written. */
export type Packager = Packaging & {
  /** ffmpeg's name of the demuxer that reads segments. */
  demuxer: string;
  /** Options of ffmpeg's muxer `hls`. */
  hlsOptions: readonly string[];
  /** Options of ffmpeg's muxer `segment`. It writes nothing between two segments, so that each continues the previous one. */
  segmentOptions: readonly string[];
  /**
   * Reads a finished segment from its beginning to its end. Throws
   * - an InvalidSegmentError if decoding cannot start at its beginning (HLS authoring specification 7.4), if the last audio frame of a
   *   stream copy is incomplete, or its configuration changes, as they may in the source,
   * - a retryable failure if the segment is truncated: its end is missing, or it is encoded audio whose last frame is incomplete,
   * - a ToolOutputError if it has another packaging, or its beginning cannot be parsed.
   */
  readSegment: (
    segment: OutputFile,
    reader: StreamReader,
    options: { isCopy: boolean },
  ) => Promise<SegmentInfo>;
  /** Reads the I-frames of a video segment, without those that come less than `minSeconds` after the previous one. */
  readIFrames: (chunks: Readable, reader: StreamReader, minSeconds: number) => Promise<readonly IFrame[]>;
  /**
   * The groups of pictures of a video segment, in order: decoding can start at each. Throws if it cannot start at the beginning of the segment,
   * or the segment is truncated.
   */
  groupsOf: (segment: Buffer, reader: StreamReader) => readonly GroupOfPictures[];
  /** A segment that the first segment of another run can follow. Throws if it is too short for that. */
  completed: (segment: Buffer) => Buffer;
  /** The elementary stream of a segment. Throws if it is no segment. */
  streamOf: (segment: Buffer) => Buffer;
  /** Presentation time of the first access unit of a segment, in seconds. Throws if it is no segment. */
  startOf: (segment: Buffer) => number;
  /** Seconds from the decoding of the first access unit of a segment to its presentation. */
  delayOf: (segment: Buffer) => number;
  /** A segment of another run, or a group of pictures, changed so that it follows one segment, or another follows it. */
  joined: (segment: Buffer, neighbour: { after: Buffer } | { before: Buffer }) => Buffer;
  /** Lets `edit` change the first bytes of each access unit in place. */
  editUnits: (segment: Buffer, edit: (beginning: Buffer) => void) => Buffer;
};

/** A segment breaks a rule of HLS. With a stream copy, encoding the source avoids that. */
export class InvalidSegmentError extends Error {
  override name = 'InvalidSegmentError';
}
