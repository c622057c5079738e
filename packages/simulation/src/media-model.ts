import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CLOCK_HZ } from '@framelane/contracts/manifest';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import { PACKAGINGS } from '@framelane/contracts/packaging';
import type { TranscodePlan } from '@framelane/contracts/transcode-plan';
import { withStorageRetries } from '@framelane/engine/outputs/storage-retries';
import type { TaskOutput } from '@framelane/engine/outputs/stored-run';
import { SOURCE_PATH } from '@framelane/engine/sandbox/job-folder';
import { withSource } from '@framelane/engine/transcode/job-source';
import type { Media } from '@framelane/engine/transcode/media';
import { refusal, TranscodeFailure } from '@framelane/engine/transcode-failure';
import { segmentKeyBelow } from '@framelane/object-store/object-keys';
import { currentProcess, whileAlive } from './simulated-process.ts';
import { modelPlan, SEGMENT_SECONDS, type SourceModel } from './source-model.ts';
import type { World } from './world.ts';

/** What the model of ffmpeg needs of an engine. */
type Context = Parameters<Media['runTask']>[2];

type Storing = { output: TaskOutput; plan: Pick<TranscodePlan, 'encode'>; context: Context };

/** Virtual milliseconds that a segment of all renditions takes. */
const SEGMENT_MS = 3_000;

/**
 * A model in the place of ffmpeg: it reads what the source is from its bytes, plans it, and stores segments one after another. It stalls, fails and
 * dies. All else of a try is the engine's own: leases, disk, cache, requests, messages.
 */
export function modelMedia(world: World): Media {
  const { time, random, faults, history } = world;
  const say = (what: string) => history.say(currentProcess()?.name ?? 'simulation', what);

  /** Waits until the next output is there. */
  const encode = async ({ signal }: Pick<Context, 'signal'>, milliseconds: number) => {
    if (faults.hits('failedMedia')) {
      const stalls = random.below(2) === 0;
      say(`ffmpeg ${stalls ? 'stalls' : 'dies'}`);
      if (stalls) await whileAlive(time.sleep(random.below(120_000)));
      signal.throwIfAborted();
      throw new TranscodeFailure('internal_error', 'ffmpeg failed. Retry the video later.', {
        retryable: true,
        cause: new Error('the model of ffmpeg died'),
      });
    }
    await whileAlive(time.sleep(milliseconds * (0.5 + random.fraction())));
    signal.throwIfAborted();
  };

  const put = (key: string, bytes: number, { objects, signal }: Context) =>
    withStorageRetries(() => objects.put(key, Buffer.alloc(bytes, 1), 'video/mp2t'), signal);

  const storeRendition = async (
    name: '360p' | 'audio',
    { first, count }: { first: number; count: number },
    { output, plan, context }: Storing,
    onStored: (segments: number) => void = () => {},
  ): Promise<StoredRendition> => {
    const { packaging } = plan.encode;
    const start = PACKAGINGS[packaging].startTimestamp / CLOCK_HZ;
    const segments: StoredRendition['segments'][number][] = [];
    for (let at = first; at < first + count; at += 1) {
      await encode(context, SEGMENT_MS);
      const bytes = 16 * (3 + at);
      await put(segmentKeyBelow(output.prefix, name, at, packaging), bytes, context);
      segments.push({ start: start + at * SEGMENT_SECONDS, bytes });
      if (segments.length === 1) output.onRenditionStarted?.(name, { codecs: codecsOf(name) });
      onStored(segments.length);
    }
    return { name, codecs: codecsOf(name), first, segments };
  };

  const storeImages = async ({ output, context }: Storing): Promise<TaskResult['images']> => {
    await encode(context, SEGMENT_MS);
    await put(`${output.prefix}poster.jpg`, 48, context);
    return { poster: { bytes: 48 }, storyboard: null };
  };

  return {
    prepareTools: async () => ({
      ffmpeg: 'ffmpeg',
      backgroundFfmpeg: 'ffmpeg',
      deviceFfmpeg: undefined,
      lightFfmpeg: 'ffmpeg',
      remuxFfmpeg: 'ffmpeg',
      ffprobe: 'ffprobe',
      recognizer: undefined,
      version: 'model',
      hasOtherEncoders: true,
      account: null,
    }),

    runPlanning: (job, context) =>
      withSource(job.source, context, async (directory, sha256) => {
        await encode(context, 500);
        const source = parseSource(await readFile(join(directory, SOURCE_PATH), 'utf8'));
        if (source.segments === 0) throw refusal('not_a_video', 'The file is not a video.');
        const plan = modelPlan(source, { packaging: job.packaging, mayCut: job.pieceSeconds !== null });
        if (plan.tasks.length > 0) await context.sources.add(job.source, join(directory, SOURCE_PATH));
        await job.storePlan(plan, sha256);
        if (plan.tasks.length > 0) return { plan, result: undefined };
        const storing = { output: job.output, plan, context };
        const all = { first: 0, count: source.segments };
        const video = await storeRendition('360p', all, storing, (stored) =>
          context.onProgress(stored / (source.segments + 1)),
        );
        const audio = await storeRendition('audio', all, storing);
        return { plan, result: { renditions: [video, audio], images: await storeImages(storing) } };
      }),

    runTask: async ({ plan, work, output }, _directory, context) => {
      const storing = { output, plan, context };
      if (work.kind === 'images') return { renditions: [], images: await storeImages(storing) };
      if (work.kind === 'audio') {
        const all = { first: 0, count: plan.segmentStarts.length };
        return { renditions: [await storeRendition('audio', all, storing)] };
      }
      if (work.kind !== 'piece') throw new Error(`The model makes no ${work.kind}`);
      const part = { first: work.firstSegment, count: work.segmentStarts.length };
      const rendition = await storeRendition('360p', part, storing, (stored) =>
        context.onProgress(stored / part.count),
      );
      return { renditions: [rendition] };
    },

    runDerivation: async () => {
      throw new Error('The model makes no derivations');
    },
    runClip: async () => {
      throw new Error('The model makes no clips');
    },
  };
}

function codecsOf(name: '360p' | 'audio'): string {
  return name === 'audio' ? 'mp4a.40.2' : 'avc1.64001e';
}

/** A file that is no JSON is no video. */
function parseSource(text: string): SourceModel {
  try {
    return JSON.parse(text) as SourceModel;
  } catch {
    return { segments: 0, pieces: 0 };
  }
}
