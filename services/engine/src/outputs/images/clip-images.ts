import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { ImagesResult } from '@framelane/contracts/outputs/images';
import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import { I_FRAME_RENDITION } from '@framelane/contracts/renditions';
import { type EncodePlan, isSoundAlone } from '@framelane/contracts/transcode-plan';
import { WITHOUT_METADATA } from '../../ffmpeg/arguments.ts';
import type { FfmpegCommandLine } from '../../ffmpeg/run-ffmpeg.ts';
import { planImages } from '../../plan/images.ts';
import { posterRendition } from '../../plan/ladder.ts';
import { grantFile, SOURCE_FOLDER } from '../../sandbox/job-folder.ts';
import { toNumber } from '../../source/frame-rate.ts';
import type { ClipJob, OfClip } from '../kinds.ts';
import { runOnStored } from '../run-on-stored.ts';
import { withStorageRetries } from '../storage-retries.ts';
import type { RunContext } from '../stored-run.ts';
import { fetchSegments, readSegments, withInitialization, writeSegments } from '../stored-tracks.ts';
import { storeImages } from './image-files.ts';
import { clipImagesGraph } from './image-filters.ts';
import { imageOutputs } from './image-options.ts';

const KEY_FRAMES_FILE = 'key-frames';
const POSTER_FILE = 'poster-frames';

/** The images of a clip: of the frames that it has, or the poster of its parent for sound alone. */
export const imagesOfClip: OfClip<ImagesResult> = async (job, { renditions, directory, files }, context) => {
  const encode = withImages(job.plan.encode);
  if (encode === null) return { poster: await copyPoster(job, context), storyboard: null };
  const start = await fetchFrames(job, encode, { renditions, directory }, context);
  const program = context.tools.ffmpeg;
  await runOnStored(
    imagesArguments(encode, start),
    { program, seconds: encode.duration },
    directory,
    context,
  );
  const { prefix } = job.output;
  return storeImages(files, encode, { objects: context.objects, prefix, signal: context.signal });
};

/** The plan of a clip with images of its own; null for sound alone. */
function withImages(encode: EncodePlan): EncodePlan | null {
  const top = encode.videoRenditions.at(-1);
  if (isSoundAlone(encode) || top === undefined) return null;
  const step = Math.max(...encode.videoRenditions.map(({ frameStep }) => frameStep));
  const lastFrame = (step * Math.floor((encode.frames - 1) / step)) / toNumber(encode.frameRate);
  return { ...encode, images: planImages(top, encode.duration, lastFrame) };
}

/** The run that makes the images, from key frames and from the segment with the poster. */
function imagesArguments(encode: EncodePlan, start: number): FfmpegCommandLine {
  const input = (name: string) => `file:${SOURCE_FOLDER}/${name}`;
  const graph = ['-filter_complex', clipImagesGraph(encode, start)];
  const reading = readSegments(encode.packaging);
  return {
    inputOptions: [
      ...['-nostdin', '-hide_banner', '-v', 'error', '-copyts', '-skip_frame', 'nokey', ...reading],
    ],
    input: input(KEY_FRAMES_FILE),
    moreInputs: [{ options: reading, path: input(POSTER_FILE) }],
    outputs: imageOutputs(encode).map(({ options, path }, at) => ({
      options: [...(at === 0 ? graph : []), ...options, ...WITHOUT_METADATA],
      path,
    })),
  };
}

/** Writes the frames that the images are made from to the folder that ffmpeg reads. Resolves with the timestamp of the first one, in seconds. */
async function fetchFrames(
  { output }: ClipJob,
  encode: EncodePlan,
  { renditions, directory }: { renditions: readonly StoredRendition[]; directory: string },
  { objects, tools, signal }: RunContext,
): Promise<number> {
  const named = (name: string | undefined) => renditions.find((each) => each.name === name);
  const lowest = named(encode.videoRenditions[0]?.name);
  // Without I-frames, those that segments begin with.
  const keyFrames = named(I_FRAME_RENDITION) ?? lowest;
  const ofPoster = named(posterRendition(encode.videoRenditions)?.name);
  const start = lowest?.segments[0]?.start;
  const { storyboard, posterFrom } = encode.images;
  if (keyFrames === undefined || ofPoster === undefined || start === undefined || storyboard === null)
    throw new Error('A clip with video has no renditions');
  const times = Array.from({ length: storyboard.tiles }, (_, tile) => start + tile * storyboard.interval);
  const write = async (file: string, rendition: StoredRendition, sequences: Iterable<number>) => {
    const stored = { name: rendition.name, places: [{ firstSegment: 0, prefix: output.prefix }] };
    const { contentKey } = output;
    const wanted = [...sequences].map((sequence) => ({
      sequence,
      bytes: rendition.segments[sequence]?.bytes ?? 0,
    }));
    const path = join(directory, SOURCE_FOLDER, file);
    const reading = { objects, packaging: encode.packaging, contentKey, signal };
    await writeSegments(path, withInitialization(rendition, fetchSegments(stored, wanted, reading)), reading);
    await grantFile(path, tools.account);
  };
  await write(KEY_FRAMES_FILE, keyFrames, new Set(times.map((time) => nearest(keyFrames, time))));
  const shown = ofPoster.segments.findLastIndex((segment) => segment.start <= start + posterFrom);
  await write(POSTER_FILE, ofPoster, [Math.max(0, shown)]);
  return start;
}

/** The number of the segment that begins nearest to a time. */
function nearest({ segments }: StoredRendition, time: number): number {
  const next = segments.findIndex(({ start }) => start >= time);
  if (next <= 0) return next === 0 ? 0 : segments.length - 1;
  const before = time - (segments[next - 1]?.start ?? 0);
  return before < (segments[next]?.start ?? 0) - time ? next - 1 : next;
}

async function copyPoster(
  { parent: { posterKey }, output: { prefix } }: ClipJob,
  { objects, signal }: RunContext,
): Promise<ImagesResult['poster']> {
  if (posterKey === null) return null;
  const image = await withStorageRetries(async () => buffer((await objects.get(posterKey)).body), signal);
  await withStorageRetries(() => objects.put(`${prefix}poster.jpg`, image, 'image/jpeg'), signal);
  return { bytes: image.length };
}
