import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '@framelane/contracts/manifest';
import { AUDIO_RENDITION, type RenditionName } from '@framelane/contracts/renditions';
import { attemptPrefix, segmentKey } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Logger } from '@framelane/service-kit/logger';
import { ffmpegArguments } from '../ffmpeg/arguments.ts';
import { explainToolError, isAudioFormatChange } from '../ffmpeg/errors.ts';
import type { MediaTools } from '../ffmpeg/media-tools.ts';
import { runFfmpeg } from '../ffmpeg/run-ffmpeg.ts';
import { ToolError } from '../ffmpeg/run-tool.ts';
import type { EngineMetrics } from '../metrics/engine-metrics.ts';
import { storeImages } from '../output/image-uploads.ts';
import { buildManifest } from '../output/manifest.ts';
import { InvalidSegmentError } from '../output/segment-info.ts';
import { SegmentUploads, type StoredSegments } from '../output/segment-uploads.ts';
import { withStorageRetries } from '../output/storage-retries.ts';
import { hostileOutput, ToolOutput, ToolOutputError } from '../output/tool-output.ts';
import { type EncodePlan, hasPassthrough, planEncoding } from '../plan/encode-plan.ts';
import type { MaxRates } from '../plan/ladder.ts';
import { BUFFER_SECONDS } from '../plan/passthrough.ts';
import { grantFile, grantFolder, OUTPUT_FOLDER, SOURCE_FOLDER, SOURCE_PATH } from '../sandbox/job-folder.ts';
import { canDecodeToStereo } from '../sandbox/whitelist.ts';
import { MAX_GOP_SECONDS } from '../source/gop-scan.ts';
import { type ProbedSource, probe } from '../source/probe.ts';
import { storageFailure, TranscodeFailure } from '../transcode-failure.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';
import type { Reservation } from './disk-reservations.ts';
import { removeTree } from './work-directory.ts';

/** One attempt at one video. */
export type TranscodeJob = {
  workspaceId: string;
  videoId: string;
  attempt: number;
  sourceKey: string;
  sourceBytes: number;
  contentKey: Uint8Array;
};

export type TranscodeJobContext = {
  objects: ObjectStore;
  tools: MediaTools;
  settings: TranscodeSettings;
  /** Where the job makes its directory. */
  jobsDir: string;
  /** What it may take of the disk (see `diskNeed`). */
  room: Reservation;
  logger: Logger;
  metrics: Pick<EngineMetrics, 'inStage'>;
  signal: AbortSignal;
  /** Called with the part done, 0..1; it only grows. */
  onProgress: (fraction: number) => void;
};

/** Disk that segments take which wait for the storage, as a part of their source. */
const OUTPUT_PER_SOURCE = 0.2;

/** Bytes of disk a job takes: its source, unless that is a link to the stored object, and segments. */
export function diskNeed(sourceBytes: number, { sourceIsLink }: { sourceIsLink: boolean }): number {
  return sourceBytes * ((sourceIsLink ? 0 : 1) + OUTPUT_PER_SOURCE);
}

const SEGMENT_OVERHEAD_BYTES = 1024 ** 2;

/**
 * Runs one attempt in a directory of its own, which is gone afterwards whatever happens. Throws a TranscodeFailure, or
 * the signal's reason when aborted. Segments stored by then stay; nobody knows of them.
 */
export async function runTranscodeJob(job: TranscodeJob, context: TranscodeJobContext): Promise<Manifest> {
  const { metrics } = context;
  const directory = await mkdtemp(join(context.jobsDir, 'job-'));
  try {
    await mkdir(join(directory, SOURCE_FOLDER));
    await grantFolder(directory, 'pass', context.tools.account);
    await grantFolder(join(directory, SOURCE_FOLDER), 'read', context.tools.account);
    await metrics.inStage('fetch', () => fetchSource(job, directory, context));
    context.room.reduceTo(job.sourceBytes * OUTPUT_PER_SOURCE);
    const source = await metrics.inStage('probe', () => probeSource(directory, context));
    return await metrics.inStage('encode', () => transcode(job, source, directory, context));
  } finally {
    // What it cannot remove is no reason to lose the result; the next start removes it.
    await removeTree(directory).catch((error: unknown) =>
      context.logger.error('transcode.directory_not_removed', { videoId: job.videoId, directory, error }),
    );
  }
}

/** The store goes on with a fetch that breaks off; one that fails begins again. */
async function fetchSource(
  { sourceKey }: TranscodeJob,
  directory: string,
  { objects, tools, signal }: TranscodeJobContext,
): Promise<void> {
  const path = join(directory, SOURCE_PATH);
  await withStorageRetries(() => objects.fetchToFile(sourceKey, path, signal), signal);
  await grantFile(path, tools.account);
}

async function probeSource(
  directory: string,
  { tools, settings, signal }: TranscodeJobContext,
): Promise<ProbedSource> {
  try {
    return await probe({ program: tools.ffprobe, cwd: directory, signal, limits: settings.limits });
  } catch (error) {
    throw error instanceof ToolError ? explainToolError(error, 'probe') : error;
  }
}

/** Keeps of the source what fits; should its packets turn out not to be what they claim, encodes everything instead. */
async function transcode(
  job: TranscodeJob,
  source: ProbedSource,
  directory: string,
  context: TranscodeJobContext,
): Promise<Manifest> {
  const facts = { videoId: job.videoId, attempt: job.attempt };
  const output = join(directory, OUTPUT_FOLDER);
  const run = async (plan: EncodePlan) => {
    const { rungs, videoPassthrough, obstacles } = plan;
    context.logger.info('transcode.planned', { ...facts, rungs: rungs.length, videoPassthrough, obstacles });
    await mkdir(output);
    await grantFolder(output, 'write', context.tools.account);
    const { stored, images } = await encode(job, plan, directory, context);
    return buildManifest(source, plan, stored, images);
  };
  const { maxRates } = context.settings;
  let plan = planEncoding(source, true, maxRates);
  for (;;) {
    try {
      return await run(plan);
    } catch (error) {
      const next = nextPlan(plan, source, error, maxRates);
      if (!next) throw error;
      context.logger.warn(next.log, { ...facts, error });
      await removeTree(output);
      await removeStored(job, context);
      plan = next.plan;
    }
  }
}

/** What to do after a plan failed for something in the source that nothing tells beforehand; null when nothing is left. */
export function nextPlan(
  plan: EncodePlan,
  source: ProbedSource,
  error: unknown,
  maxRates: MaxRates,
): { plan: EncodePlan; log: string } | null {
  const { audio } = plan;
  const decodeToStereo = source.audio !== null && canDecodeToStereo(source.audio.codec);
  if (audio && !audio.decodeToStereo && decodeToStereo && isAudioFormatChange(causeOf(error))) {
    return { plan: { ...plan, audio: { ...audio, decodeToStereo } }, log: 'transcode.audio_layout_changes' };
  }
  if (hasPassthrough(plan) && isFaultOfSource(error)) {
    const next = planEncoding(source, false, maxRates);
    const changesChannels = audio?.decodeToStereo ?? false;
    return {
      plan: { ...next, audio: next.audio && { ...next.audio, decodeToStereo: changesChannels } },
      log: 'transcode.passthrough_failed',
    };
  }
  return null;
}

function causeOf(error: unknown): unknown {
  return error instanceof TranscodeFailure ? error.cause : error;
}

/**
 * Whether what was kept may be to blame: ffmpeg could not copy it, or its segments are not as they have to be. A fault of
 * the engine, which another attempt may be spared, is none.
 */
function isFaultOfSource(error: unknown): boolean {
  if (error instanceof TranscodeFailure && error.retryable) return false;
  const cause = causeOf(error);
  return cause instanceof InvalidSegmentError || (cause instanceof ToolError && cause.end === 'exit');
}

async function removeStored(job: TranscodeJob, { objects }: TranscodeJobContext): Promise<void> {
  try {
    await objects.deletePrefix(attemptPrefix(job.workspaceId, job.videoId, job.attempt));
  } catch (error) {
    throw storageFailure(error);
  }
}

/** Runs ffmpeg and stores what it finishes meanwhile. */
async function encode(
  job: TranscodeJob,
  plan: EncodePlan,
  directory: string,
  context: TranscodeJobContext,
): Promise<{ stored: StoredSegments; images: Pick<Manifest, 'poster' | 'storyboard'> }> {
  const { settings } = context;
  const { encodeSeconds, stallSeconds, memoryBytes } = settings.limits;
  // ffmpeg counts the frames of its first output.
  const lowestFrames = Math.ceil(plan.frames / (plan.rungs[0]?.frameStep ?? 1));
  const output = await ToolOutput.open(join(directory, OUTPUT_FOLDER));
  const failure = new AbortController();
  const signal = AbortSignal.any([context.signal, failure.signal]);
  const uploads = new SegmentUploads({
    output,
    objects: context.objects,
    contentKey: job.contentKey,
    keyOf: (rendition, sequence) => segmentKey(job, rendition, sequence),
    renditions: renditionsOf(plan),
    maxSegments: Math.ceil(plan.duration / plan.segmentSeconds) + 1,
    maxBytes: largestSegment(plan),
    signal,
    onFailure: (reason) => failure.abort(reason),
  });
  try {
    await runFfmpeg(ffmpegArguments(plan, settings), {
      program: context.tools.ffmpeg,
      cwd: directory,
      signal,
      limitSeconds: Math.min(
        encodeSeconds.fixed + encodeSeconds.perSecondOfVideo * plan.duration,
        encodeSeconds.max,
      ),
      stallSeconds,
      memoryBytes,
      onProgress: (frames) => {
        context.onProgress(Math.min(1, frames / lowestFrames));
        void uploads.collect();
      },
      mustPause: () => uploads.isBehind,
    });
    context.logger.info('transcode.encoded', { videoId: job.videoId, attempt: job.attempt });
    const images = await storeImages(output, plan.images, job, { objects: context.objects, signal });
    return { stored: await uploads.finish(), images };
  } catch (error) {
    if (error instanceof ToolOutputError) throw hostileOutput(error);
    throw error instanceof ToolError ? explainToolError(error, 'encode') : error;
  } finally {
    // An upload that outlived the job would put segments where somebody has just cleaned up.
    failure.abort();
    await uploads.settle();
    await output.close();
  }
}

/** Bytes a segment stays well below: twice what the highest cap and its buffer allow, and the packets of small frames. */
function largestSegment({ rungs, segmentSeconds }: EncodePlan): number {
  const highest = Math.max(...rungs.map(({ maxRate }) => maxRate));
  const seconds = segmentSeconds + MAX_GOP_SECONDS + BUFFER_SECONDS;
  return SEGMENT_OVERHEAD_BYTES + 2 * (highest / 8) * seconds;
}

function renditionsOf({ rungs, audio }: EncodePlan): Set<RenditionName> {
  const names = new Set<RenditionName>(rungs.map(({ name }) => name));
  return audio ? names.add(AUDIO_RENDITION) : names;
}
