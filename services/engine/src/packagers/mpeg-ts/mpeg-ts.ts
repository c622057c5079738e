import { PACKAGINGS } from '@framelane/contracts/packaging';
import type { Packager } from '../packager.ts';
import { completeCounters, joinCounters } from './continuity.ts';
import { groupsOf } from './groups.ts';
import { readIFrames, readSegment } from './segment.ts';
import { decodingDelay, editUnits, elementaryStream, firstTimestamp } from './transport-stream.ts';

/** Longer than any video, so that ffmpeg writes the tables only before each key frame and at no other times. */
const TABLES_SECONDS = 1_000_000;

/** Transport streams, each with one elementary stream: video as a byte stream (annex B), or AAC in ADTS. */
export const MPEG_TS: Packager = {
  ...PACKAGINGS['mpeg-ts'],
  demuxer: 'mpegts',
  hlsOptions: ['-hls_segment_type', 'mpegts'],
  segmentOptions: [
    ...['-segment_format', 'mpegts'],
    ...['-segment_format_options', `pat_period=${TABLES_SECONDS}:sdt_period=${TABLES_SECONDS}`],
    ...['-individual_header_trailer', '0'],
  ],
  readSegment,
  readIFrames,
  groupsOf,
  completed: completeCounters,
  streamOf: elementaryStream,
  startOf: firstTimestamp,
  delayOf: decodingDelay,
  joined: joinCounters,
  editUnits,
};
