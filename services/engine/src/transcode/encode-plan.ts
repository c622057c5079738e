import type { InputIssue } from '@framelane/contracts/manifest';
import { deliveryFrameRate, type FrameRate, toNumber } from './frame-rate.ts';
import { planLadder, type Rung } from './ladder.ts';
import type { DynamicRange, VideoTrack } from './media-source.ts';
import type { ProbedSource } from './probe.ts';

/** Samples in one AAC frame, and the rate audio is delivered at. */
const AAC_FRAME_SAMPLES = 1024;
export const AUDIO_SAMPLE_RATE = 48_000;

/** A file that lacks more than this part of the time it declares was cut off. */
const TRUNCATED_PART = 0.05;

/** Everything ffmpeg is told about one video. */
export type EncodePlan = {
  videoIndex: number;
  audio: { index: number; samples: number } | null;
  /** Lowest first. */
  rungs: readonly Rung[];
  frameRate: FrameRate;
  /** Frames delivered: exactly so many. */
  frames: number;
  /** Seconds delivered. */
  duration: number;
  deinterlace: boolean;
  dynamicRange: DynamicRange;
  /** Matrix to assume where the file names none. */
  assumedMatrix: 'bt601' | 'bt709' | null;
  /** Repairs the owner is told of. */
  inputIssues: InputIssue[];
};

/** Decides what is made of a source. */
export function planEncoding(source: ProbedSource): EncodePlan {
  const { video, audio, timeline } = source;
  const frameRate = deliveryFrameRate(timeline.averageRate, video.declaredRate);
  const framesPerSecond = toNumber(frameRate);
  const frames = Math.max(1, Math.round(timeline.duration * framesPerSecond));
  const duration = frames / framesPerSecond;
  return {
    videoIndex: video.index,
    audio: audio && { index: audio.index, samples: audioSamples(duration) },
    rungs: planLadder(video.display, framesPerSecond),
    frameRate,
    frames,
    duration,
    deinterlace: video.interlaced,
    dynamicRange: video.dynamicRange,
    assumedMatrix: video.colorMatrix === null ? usualMatrix(video) : null,
    inputIssues: inputIssues(source, framesPerSecond),
  };
}

/**
 * Samples of audio that end with the video, or less than one AAC frame before it. The encoder adds one frame in front
 * and delivers whole frames only; never one that begins at or after the end, which could be a segment of its own.
 */
function audioSamples(duration: number): number {
  const samples = Math.round(duration * AUDIO_SAMPLE_RATE);
  return AAC_FRAME_SAMPLES * Math.max(1, Math.ceil(samples / AAC_FRAME_SAMPLES) - 1);
}

/** Untagged video follows the standard of its size: BT.709 for high definition, BT.601 below. */
function usualMatrix({ coded }: VideoTrack): 'bt601' | 'bt709' {
  return Math.min(coded.width, coded.height) >= 720 ? 'bt709' : 'bt601';
}

function inputIssues({ video, audio, timeline }: ProbedSource, framesPerSecond: number): InputIssue[] {
  const { averageRate, duration } = timeline;
  const issues: [boolean, InputIssue][] = [
    [video.interlaced, { code: 'interlaced', message: 'Interlaced video was made progressive.' }],
    [
      video.dynamicRange !== 'sdr',
      { code: 'hdr', message: 'High dynamic range was mapped to standard range.' },
    ],
    [
      /(p|gray|gbr\w*)(9|1[0246])(le|be)?$|^p01\d/.test(video.pixelFormat),
      { code: 'high_bit_depth', message: 'The picture was reduced to 8 bits a sample.' },
    ],
    [
      /4(22|44|40)|rgb|gbr|bgr/.test(video.pixelFormat),
      { code: 'chroma_subsampling', message: 'Colour was reduced to 4:2:0.' },
    ],
    [
      Math.abs(averageRate - framesPerSecond) > framesPerSecond * 0.01,
      {
        code: 'frame_rate_changed',
        message: `The frame rate was changed from ${averageRate.toFixed(2)} to ${framesPerSecond.toFixed(2)}.`,
      },
    ],
    [
      (video.declaredDuration ?? 0) > duration * (1 + TRUNCATED_PART),
      {
        code: 'truncated',
        message: `The file ends after ${duration.toFixed(1)} of ${video.declaredDuration?.toFixed(1)} seconds.`,
      },
    ],
    [
      (audio?.channels ?? 0) > 2,
      { code: 'audio_downmixed', message: `${audio?.channels} channels of sound were mixed down to stereo.` },
    ],
  ];
  return issues.filter(([applies]) => applies).map(([, issue]) => issue);
}
