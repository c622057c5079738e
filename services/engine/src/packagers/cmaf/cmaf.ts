import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { PACKAGINGS } from '@framelane/contracts/packaging';
import type { SampleReader } from '../../encoders/stream-reader.ts';
import { ROUNDING_SECONDS } from '../../plan/key-frames.ts';
import { readFrom, ToolOutputError } from '../../sandbox/tool-output.ts';
import { incompleteOutput } from '../../transcode-failure.ts';
import { type IFrame, InvalidSegmentError, type Packager, type SegmentReader } from '../packager.ts';
import { isSegment, isSync, type Sample, samplesOf, segmentOf } from './fragments.ts';
import { type Initialization, readInitialization, timescaleOf, withConfiguration } from './initialization.ts';

/**
 * Options of ffmpeg's muxer of MP4. Decoding times are those of the stream (`frag_discont`), and no edit list moves them, so the segments of
 * all runs have the same clock. Composition offsets are positive: with negative ones, ffmpeg and mpv would show video late.
 */
const CLOCK_OPTIONS = ['use_editlist=0', 'avoid_negative_ts=disabled'];

/** Fragmented MP4 (ISO/IEC 23000-19), each segment of one track in one fragment, with a common initialization section. */
export const CMAF: Packager = {
  ...PACKAGINGS.cmaf,
  demuxer: 'mov',
  muxerDelaySeconds: 0,
  hasInitialization: true,
  hlsOptions: (initialization) => [
    ...['-hls_segment_type', 'fmp4', '-hls_fmp4_init_filename', initialization],
    ...['-hls_segment_options', ['movflags=+frag_discont', ...CLOCK_OPTIONS].join(':')],
  ],
  segmentOptions: (initialization, continued) => [
    ...['-segment_format', 'mp4', '-segment_header_filename', initialization],
    ...[
      '-segment_format_options',
      [
        'movflags=+dash+frag_custom+default_base_moof+skip_trailer+frag_discont',
        ...CLOCK_OPTIONS,
        ...(continued ? [`video_track_timescale=${timescaleOf(continued)}`] : []),
      ].join(':'),
    ],
    ...['-individual_header_trailer', '0'],
  ],
  open: ({ sample }, initialization) => reading(sample, sectionOf(initialization, sample)),
  isSegment,
  trackOf: (initialization, reader) => sectionOf(initialization, reader.sample),
  completed: (segment) => segment,
  joined: (segment) => segment,
  adopted: (segment) => segment,
  extended: (initialization, other, { reader: { sample }, extended }, codecs) => {
    const [own, added] = [sectionOf(initialization, sample), sectionOf(other, sample)];
    if (own.timescale !== added.timescale || own.trackId !== added.trackId)
      throw new Error('The segments of two runs have different clocks or tracks');
    const configuration = extended(own.configuration, added.configuration, codecs);
    return withConfiguration(own.bytes, sample.configurationBox, configuration);
  },
};

function sectionOf(initialization: Buffer | null, { configurationBox }: SampleReader): Initialization {
  if (initialization === null) throw new Error('The initialization section is missing');
  return readInitialization(initialization, configurationBox);
}

function reading(reader: SampleReader, track: Initialization): SegmentReader {
  const { timescale, configuration } = track;
  const codecs = reader.codecString(configuration, track.colour);
  const seconds = (time: number) => time / timescale;
  const firstOf = (segment: Buffer) => samplesOf(segment, track)[0] as Sample;
  const initialization = track.bytes.toString('base64');
  const completedBy = ({ bytes }: Sample) => {
    if (reader.completed === undefined) return { configuration, initialization };
    const completed = reader.completed(configuration, bytes);
    const section = withConfiguration(track.bytes, reader.configurationBox, completed);
    return { configuration: completed, initialization: section.toString('base64') };
  };
  const canStart = (sample: Sample) => isSync(sample) && reader.isDecodable(sample.bytes);
  return {
    initialization,
    read: async (file, { isCopy }) => {
      const samples = readSamples(await buffer(readFrom(file)), track);
      const [first] = samples;
      if (first === undefined || !canStart(first))
        throw new InvalidSegmentError('Decoding cannot start at the beginning of a segment');
      // The section says it once for all segments.
      const completed = completedBy(first);
      if (
        isCopy &&
        !(await areConfigured(samples, reader.isConfigured(completed.configuration, configuration)))
      )
        throw new InvalidSegmentError('A segment changes its parameter sets');
      return {
        codecs,
        start: seconds(first.presentationTime),
        last: seconds(reader.isAudio ? endOf(samples, 'presentationTime') : latestOf(samples)),
        units: samples.length,
        configuration: null,
        initialization: completed.initialization,
      };
    },
    iFrames: async (chunks, minSeconds) => {
      const samples = samplesOf(await buffer(chunks), track);
      const frames: Sample[] = [];
      for (const sample of samples) {
        const previous = frames.at(-1)?.presentationTime ?? Number.NEGATIVE_INFINITY;
        const apart = seconds(sample.presentationTime - previous);
        if (canStart(sample) && apart > minSeconds - ROUNDING_SECONDS) frames.push(sample);
      }
      const end = endOf(samples, 'decodingTime');
      // Each is shown until the next one: otherwise, players would have gaps between them.
      return frames.map((frame, at): IFrame => {
        const duration = (frames[at + 1]?.decodingTime ?? end) - frame.decodingTime;
        return {
          codecs,
          start: seconds(frame.presentationTime),
          segment: segmentOf([{ ...frame, duration }], track),
        };
      });
    },
    groups: (segment) => {
      const samples = samplesOf(segment, track);
      const begins = samples.flatMap((sample, at) => (canStart(sample) ? [at] : []));
      if (begins[0] !== 0) throw new Error('Decoding cannot start at the beginning of a segment');
      return begins.map((begin, at) => {
        const group = samples.slice(begin, begins[at + 1]);
        return {
          start: seconds((group[0] as Sample).presentationTime),
          units: group.length,
          segment: segmentOf(group, track),
        };
      });
    },
    start: (segment) => seconds(firstOf(segment).presentationTime),
    delay: (segment) => {
      const { presentationTime, decodingTime } = firstOf(segment);
      return seconds(presentationTime - decodingTime);
    },
    frameSeconds: (segment) => seconds(firstOf(segment).duration),
  };
}

/** Throws a ToolOutputError for what ffmpeg never writes, and a retryable failure for a truncated segment. */
function readSamples(segment: Buffer, track: Initialization): Sample[] {
  if (!TYPES.includes(segment.toString('latin1', 4, 8)))
    throw new ToolOutputError('A segment is not fragmented MP4');
  try {
    return samplesOf(segment, track);
  } catch (error) {
    if (error instanceof ToolOutputError) throw error;
    throw incompleteOutput(`A segment is truncated: ${(error as Error).message}`);
  }
}

/** Samples that are looked at before other work may go on. */
const SAMPLES_AT_ONCE = 20;

async function areConfigured(
  samples: readonly Sample[],
  isConfigured: (sample: Buffer) => boolean,
): Promise<boolean> {
  for (const [at, { bytes }] of samples.entries()) {
    if (at % SAMPLES_AT_ONCE === 0) await setImmediate();
    if (!isConfigured(bytes)) return false;
  }
  return true;
}

/** The boxes that a segment may begin with. */
const TYPES = ['styp', 'sidx', 'moof'];

function latestOf(samples: readonly Sample[]): number {
  return samples.reduce((latest, { presentationTime }) => Math.max(latest, presentationTime), 0);
}

/** When the last sample ends, by one of its times. */
function endOf(samples: readonly Sample[], time: 'decodingTime' | 'presentationTime'): number {
  const last = samples.at(-1) as Sample;
  return last[time] + last.duration;
}
