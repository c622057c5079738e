import { CLOCK_HZ } from '@framelane/contracts/manifest';
import type { FfmpegCommandLine } from '../../../ffmpeg/run-ffmpeg.ts';
import { initializationFile, segmentFile } from '../../../packagers/segment-files.ts';
import { OUTPUT_FOLDER, SOURCE_FOLDER } from '../../../sandbox/job-folder.ts';
import { toNumber } from '../../../source/frame-rate.ts';
import type { ClipJob } from '../../kinds.ts';
import { readSegments } from '../../stored-tracks.ts';
import { audioTracksOf, packagerOfClip, shiftOf, timestampOf } from './clip-job.ts';

/** Timestamps are rounded. */
const ROUNDING_SECONDS = 0.001;

/** Two units of the clock of transport streams: rounded times are not negative. */
const FIRST_SECONDS = 2 / CLOCK_HZ;

/** The times of the parent at which the audio of a clip is cut: the begin of each segment, and the end. */
export function audioCuts(job: ClipJob, frameSeconds: number): number[] {
  const { encode, segmentStarts } = job.plan;
  const rate = toNumber(encode.frameRate);
  const length = encode.frames / rate;
  const [, ...later] = segmentStarts.map((frame) => frame / rate);
  // Players expect the segments to begin as far from those of the video as the audio from the video. So each has a frame, too.
  const kept = later.map((start) => start - frameSeconds);
  const zero = timestampOf(job, 0);
  // A decoder needs the frame before the first one: each frame overlaps the next one.
  const first = -2 * frameSeconds + ROUNDING_SECONDS;
  return [first, ...kept, length].map((seconds) => zero + seconds);
}

/** The audio of a track, as the engine has it on its disk. */
export type AudioInput = {
  /** The timestamp of its first frame, and the duration of a frame, in seconds. */
  start: number;
  frameSeconds: number;
};

/** The number of the file with the first segment of a clip: the audio before it, if there is any, is file 0. */
export function firstFileOf(job: ClipJob, { start, frameSeconds }: AudioInput): number {
  const [first = 0] = audioCuts(job, frameSeconds);
  return start < first ? 1 : 0;
}

/** The run that cuts all audio of a clip at AAC frames, without encoding. Each track is in one file. */
export function audioArguments(job: ClipJob, inputs: readonly AudioInput[]): FfmpegCommandLine {
  const tracks = audioTracksOf(job);
  const [first = '', ...others] = tracks.map(({ name }) => `file:${SOURCE_FOLDER}/${name}`);
  const packager = packagerOfClip(job);
  const reading = readSegments(job.plan.encode.packaging);
  const offset = shiftOf(job) - packager.muxerDelaySeconds;
  return {
    inputOptions: ['-nostdin', '-hide_banner', '-v', 'error', '-copyts', ...reading],
    input: first,
    moreInputs: others.map((path) => ({ options: reading, path })),
    outputs: tracks.map(({ name }, at) => {
      const input = inputs[at] as AudioInput;
      // From version 7 on, ffmpeg counts the times of cuts from the first frame. So the first frame is at zero, just not before it.
      const begin = input.start - FIRST_SECONDS;
      const cuts = audioCuts(job, input.frameSeconds).slice(firstFileOf(job, input) === 1 ? 0 : 1);
      return {
        options: [
          ...['-map', `${at}:a:0`, '-map_metadata', '-1', '-c', 'copy'],
          ...['-output_ts_offset', (-begin).toFixed(6), '-f', 'segment'],
          ...packager.segmentOptions(`${OUTPUT_FOLDER}/${initializationFile(name)}`),
          ...['-segment_times', cuts.map((seconds) => (seconds - begin).toFixed(6)).join(',')],
          ...['-initial_offset', (begin + offset).toFixed(6)],
        ],
        path: `${OUTPUT_FOLDER}/${segmentFile(name, '%d', packager)}`,
      };
    }),
  };
}
