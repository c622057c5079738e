import { CLOCK_HZ, type Manifest, type RenditionManifest } from '@framelane/contracts/manifest';
import type { ImagesResult } from '@framelane/contracts/outputs/images';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import { PLANNING_TASK } from '@framelane/contracts/outputs/tasks';
import { PACKAGINGS, type PackagingName } from '@framelane/contracts/packaging';
import { isAudioRendition } from '@framelane/contracts/renditions';
import type { AudioPlan, TranscodePlan, VideoRenditionPlan } from '@framelane/contracts/transcode-plan';
import { taskFolder } from '@framelane/object-store/object-keys';
import { initializationOf, samplePlan } from './plan.ts';

/** The folder in which an engine stores a short video, within that of the attempt. */
export const FOLDER = taskFolder(PLANNING_TASK, 1);

export const SEGMENT_BYTES = { '360p': 480_000, '480p': 900_000, audio: 96_000 } as const;

/** What engines have made of a video: its manifest and its images. */
export type MadeVideo = Manifest & ImagesResult;

/** That of a 20 s clip with two video renditions and audio. */
export function sampleManifest(packaging: PackagingName = 'ts'): MadeVideo {
  const segments = (bytes: number) =>
    [6, 6, 6, 2].map((duration) => ({ duration, bytes: (bytes * duration) / 6 }));
  const video = { frameRate: 25, channels: null, language: null };
  return {
    source: {
      container: 'mov,mp4,m4a,3gp,3g2,mj2',
      videoCodec: 'h264',
      audioCodec: 'aac',
      width: 854,
      height: 480,
      frameRate: 25,
      duration: 20,
    },
    duration: 20,
    inputIssues: [{ code: 'interlaced', message: 'The video was interlaced and has been deinterlaced.' }],
    renditions: [
      {
        ...video,
        ...initializationOf('360p', packaging),
        name: '360p',
        codecs: 'avc1.64001e',
        width: 640,
        height: 360,
        segments: segments(SEGMENT_BYTES['360p']),
      },
      {
        ...video,
        ...initializationOf('480p', packaging),
        name: '480p',
        codecs: 'avc1.64001f',
        width: 854,
        height: 480,
        segments: segments(SEGMENT_BYTES['480p']),
      },
      {
        ...initializationOf('audio', packaging),
        name: 'audio',
        codecs: 'mp4a.40.2',
        width: null,
        height: null,
        frameRate: null,
        channels: 2,
        language: 'en',
        label: 'English',
        segments: segments(SEGMENT_BYTES.audio),
      },
    ],
    poster: { bytes: 40_000 },
    storyboard: { bytes: 60_000, width: 160, height: 90, columns: 10, tiles: 20, interval: 1 },
    captions: [],
    chapters: [],
    startTimestamp: PACKAGINGS[packaging].startTimestamp,
  };
}

/** A plan without tasks of a video whose result is this manifest. */
export function planOf({
  source,
  duration,
  inputIssues,
  renditions,
  captions,
  chapters,
}: Manifest): TranscodePlan {
  const plan = samplePlan(renditions[0]?.initialization === undefined ? 'ts' : 'cmaf');
  const rate = plan.encode.sourceRate ?? Number.NaN;
  const video = renditions.filter(({ name }) => !isAudioRendition(name));
  const audio = renditions.filter(({ name }) => isAudioRendition(name));
  return {
    ...plan,
    encode: {
      ...plan.encode,
      duration,
      inputIssues,
      frames: duration * rate,
      videoRenditions: video.map(
        ({ name, width, height }) =>
          ({ name, width, height, maxRate: 1, frameStep: 1 }) as VideoRenditionPlan,
      ),
      audio: audio.map(({ name, channels }, index) => {
        const method = { samples: 1 };
        const rest = { late: false, downmix: false, decodeToStereo: false, end: duration };
        return { name, index, channels, method, ...rest } as AudioPlan;
      }),
    },
    facts: {
      source,
      audioTracks: audio.map(({ language, label = '', role = null }, index) => ({
        index,
        language,
        label,
        role,
      })),
      captions,
      chapters,
    },
    segmentStarts: startsOf((video[0] ?? audio[0])?.segments ?? [], rate),
    tasks: [],
  };
}

function startsOf(segments: RenditionManifest['segments'], rate: number): number[] {
  let start = 0;
  return segments.map(({ duration }) => {
    const frame = Math.round(start * rate);
    start += duration;
    return frame;
  });
}

/** The result of the run that makes all outputs of a video with this manifest. */
export function resultOfWhole({
  renditions,
  iFrames,
  poster,
  storyboard,
  startTimestamp,
}: MadeVideo): TaskResult {
  const stored = ({ name, codecs, initialization, segments }: RenditionManifest): StoredRendition => {
    let start = startTimestamp / CLOCK_HZ;
    const withStarts = segments.map(({ duration, bytes }) => {
      const segment = { start, bytes };
      start += duration;
      return segment;
    });
    const facts = { name, codecs, ...(initialization !== undefined && { initialization }) };
    return { ...facts, first: 0, segments: withStarts };
  };
  return {
    renditions: [...renditions, ...(iFrames ? [iFrames] : [])].map(stored),
    images: { poster, storyboard },
  };
}
