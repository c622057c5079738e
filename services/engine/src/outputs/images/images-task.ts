import type { TaskOf } from '@framelane/contracts/outputs/tasks';
import { type EncodePlan, isSoundAlone } from '@framelane/contracts/transcode-plan';
import {
  inputOptions,
  MAX_THREADS,
  timeOptions,
  watermarkInput,
  withFileTimes,
} from '../../ffmpeg/arguments.ts';
import type { FfmpegCommandLine } from '../../ffmpeg/run-ffmpeg.ts';
import { SOURCE_INPUT } from '../../sandbox/job-folder.ts';
import type { TranscodeSettings } from '../../transcode-settings.ts';
import type { TaskKind, VideoToCut } from '../kinds.ts';
import { runAndStore, secondsRead, timeProgress } from '../stored-run.ts';
import { storeImages } from './image-files.ts';
import { CANDIDATES, imagesGraph } from './image-filters.ts';
import { imageOutputs } from './image-options.ts';
import { MOVING, movingSoundPosterChains } from './sound-poster.ts';

/** Viewers wait for the first, short pieces, so the images follow those. At the end, images of a very long video could finish last. */
const TURN = 5.5;

/** The longest time between the key frames that images are taken from, in seconds. */
const MAX_IMAGE_GAP_SECONDS = 12;

/** The poster and the storyboard of a long video. */
export const IMAGES_TASK: TaskKind<TaskOf<'images'>> = {
  plan: ({ source, encode }) => {
    // Decoding sound takes little time, as decoding key frames does.
    const keyFramesOnly = isSoundAlone(encode) || haveCloseKeyFrames(source, encode);
    return [{ task: { kind: 'images', keyFramesOnly }, turn: TURN }];
  },
  run: async ({ plan: { encode, encoder }, work, output }, directory, context) => {
    const { others } = await runAndStore(
      {
        output,
        commandLine: imagesArguments(encode, work, encoder),
        seconds: secondsRead(encode),
        progress: timeProgress(encode),
        segments: { renditions: new Set(), iFramesOf: null, maxSegments: 0 },
        storeOthers: (files, storing) => storeImages(files, encode, storing),
      },
      encode,
      directory,
      context,
    );
    return { images: others };
  },
  seconds: () => 0,
};

/** The run that produces the images. Its first output, which is not written, shows the progress. */
export function imagesArguments(
  plan: EncodePlan,
  { keyFramesOnly }: { keyFramesOnly: boolean },
  settings: Pick<TranscodeSettings, 'threads'>,
): FfmpegCommandLine {
  const threads = Math.min(settings.threads, MAX_THREADS);
  const ofGraph = (graph: string) => ['-filter_complex_threads', String(threads), '-filter_complex', graph];
  const shown = (label: string) => ['-map', `[${label}]`, '-f', 'null'];
  if (isSoundAlone(plan)) {
    const graph = ofGraph(movingSoundPosterChains(withFileTimes(plan)).join(';'));
    return {
      inputOptions: [...inputOptions(plan, threads), ...timeOptions(plan)],
      input: SOURCE_INPUT,
      outputs: [{ options: [...graph, ...shown(MOVING)], path: '-' }, ...imageOutputs(plan)],
    };
  }
  const graph = ofGraph(imagesGraph(withFileTimes(plan), [CANDIDATES]));
  return {
    inputOptions: [
      ...inputOptions({ ...plan, audio: [] }, threads),
      ...timeOptions(plan),
      ...(keyFramesOnly ? ['-skip_frame', 'nokey'] : []),
    ],
    input: SOURCE_INPUT,
    ...watermarkInput(plan),
    outputs: [{ options: [...graph, ...shown(CANDIDATES)], path: '-' }, ...imageOutputs(plan)],
  };
}

/** Whether key frames are near enough to each other for images. Interlaced frames need the frames beside them. */
function haveCloseKeyFrames(
  { entryPoints, keyFramesNeedOthers, timeline, video }: VideoToCut['source'],
  { lead, duration }: VideoToCut['encode'],
): boolean {
  // An edit list may begin long before its first key frame.
  const start = Math.max(lead, timeline.start);
  const end = Math.min(lead + duration, timeline.duration);
  const shown = entryPoints?.filter((time) => time >= start && time < end) ?? [];
  if (shown.length === 0 || video?.interlaced || keyFramesNeedOthers) return false;
  const starts = [start, ...shown];
  const ends = [...shown, end];
  return starts.every((time, at) => (ends[at] ?? 0) - time <= MAX_IMAGE_GAP_SECONDS);
}
