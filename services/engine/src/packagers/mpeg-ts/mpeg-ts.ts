import { CLOCK_HZ } from '@framelane/contracts/manifest';
import { PACKAGINGS } from '@framelane/contracts/packaging';
import type { Packager } from '../packager.ts';
import { TIMESTAMP_OFFSET_SECONDS } from '../timestamp-offset.ts';
import { completeCounters, joinCounters } from './continuity.ts';
import { groupsOf } from './groups.ts';
import { readIFrames, readSegment } from './segment.ts';
import {
  decodingDelay,
  editUnits,
  elementaryStream,
  firstTimestamp,
  isTransportStream,
} from './transport-stream.ts';

/** Longer than any video, so that ffmpeg writes the tables only before each key frame and at no other times. */
const TABLES_SECONDS = 1_000_000;

/** Transport streams, each with one elementary stream: video as a byte stream (annex B), or AAC in ADTS. */
export const MPEG_TS: Packager = {
  ...PACKAGINGS.ts,
  demuxer: 'mpegts',
  muxerDelaySeconds: PACKAGINGS.ts.startTimestamp / CLOCK_HZ - TIMESTAMP_OFFSET_SECONDS,
  hasInitialization: false,
  hlsOptions: () => ['-hls_segment_type', 'mpegts'],
  segmentOptions: () => [
    ...['-segment_format', 'mpegts'],
    ...['-segment_format_options', `pat_period=${TABLES_SECONDS}:sdt_period=${TABLES_SECONDS}`],
    ...['-individual_header_trailer', '0'],
  ],
  open: ({ elementary: reader }) => {
    if (reader === null) throw new Error('Transport streams have no place for this codec');
    return {
      initialization: null,
      read: (segment, options) => readSegment(segment, reader, options),
      iFrames: (chunks, minSeconds) => readIFrames(chunks, reader, minSeconds),
      groups: (segment) => groupsOf(segment, reader),
      start: firstTimestamp,
      delay: decodingDelay,
      frameSeconds: (segment) => reader.frameSeconds?.(elementaryStream(segment)) ?? 0,
    };
  },
  isSegment: isTransportStream,
  trackOf: () => ({ timescale: CLOCK_HZ, configuration: null }),
  completed: completeCounters,
  joined: joinCounters,
  adopted: (segment, { declare }, codecs) => editUnits(segment, (beginning) => declare(beginning, codecs)),
  extended: () => null,
};
