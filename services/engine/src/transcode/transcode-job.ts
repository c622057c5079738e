import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '@framelane/contracts/manifest';
import { attemptPrefix, segmentKey } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Logger } from '@framelane/service-kit/logger';
import type { EngineMetrics } from '../metrics/engine-metrics.ts';
import { describeResult } from './describe-result.ts';
import { freeDiskBytes } from './disk-space.ts';
import { type EncodePlan, keepsAnything, planEncoding } from './encode-plan.ts';
import { ffmpegArguments } from './ffmpeg-arguments.ts';
import { explainToolError } from './ffmpeg-errors.ts';
import { OUTPUT_FOLDER, SOURCE_FOLDER, SOURCE_PATH } from './input-limits.ts';
import { grantFile, grantFolder } from './job-access.ts';
import type { MediaTools } from './media-tools.ts';
import { type ProbedSource, probe } from './probe.ts';
import { runFfmpeg } from './run-ffmpeg.ts';
import { UnfitSegmentError } from './segment-head.ts';
import { SegmentUploads, type StoredSegments } from './segment-uploads.ts';
import { storeImages } from './store-images.ts';
import { ToolError } from './tool-error.ts';
import { storageFailure, TranscodeFailure } from './transcode-failure.ts';
import type { TranscodeSettings } from './transcode-settings.ts';
import { withStorageRetries } from './with-storage-retries.ts';

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
  logger: Logger;
  metrics: Pick<EngineMetrics, 'inStage'>;
  signal: AbortSignal;
  /** Called with the part done, 0..1; it only grows. */
  onProgress: (fraction: number) => void;
};

/** Disk a job takes, as a multiple of its source: the source, and segments that wait for the storage. */
const DISK_PER_SOURCE = 1.2;

/**
 * Runs one attempt in a directory of its own, which is gone afterwards whatever happens. Throws a TranscodeFailure, or
 * the signal's reason when aborted. Segments stored by then stay; nobody knows of them.
 */
export async function runTranscodeJob(job: TranscodeJob, context: TranscodeJobContext): Promise<Manifest> {
  const { metrics } = context;
  const directory = await mkdtemp(join(context.jobsDir, 'job-'));
  try {
    await assertDiskSpace(directory, job.sourceBytes, context.settings.limits.spareDiskBytes);
    await mkdir(join(directory, SOURCE_FOLDER));
    await grantFolder(directory, 'pass', context.tools.account);
    await grantFolder(join(directory, SOURCE_FOLDER), 'read', context.tools.account);
    await metrics.inStage('fetch', () => fetchSource(job, directory, context));
    const source = await metrics.inStage('probe', () => probeSource(directory, context));
    return await metrics.inStage('encode', () => transcode(job, source, directory, context));
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function assertDiskSpace(directory: string, sourceBytes: number, spareBytes: number): Promise<void> {
  if ((await freeDiskBytes(directory)) < sourceBytes * DISK_PER_SOURCE + spareBytes) {
    throw new TranscodeFailure('internal_error', 'The engine has too little disk space.', {
      retryable: true,
    });
  }
}

/** A fetch that breaks off begins again. */
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
    const { rungs, keepsTop, obstacles } = plan;
    context.logger.info('transcode.planned', { ...facts, rungs: rungs.length, keepsTop, obstacles });
    await mkdir(output);
    await grantFolder(output, 'write', context.tools.account);
    const { stored, images } = await encode(job, plan, directory, context);
    return describeResult(source, plan, stored, images);
  };
  const { maxRates } = context.settings;
  const plan = planEncoding(source, true, maxRates);
  try {
    return await run(plan);
  } catch (error) {
    if (!keepsAnything(plan) || !isFaultOfSource(error)) throw error;
    context.logger.warn('transcode.source_not_kept', { ...facts, error });
    await rm(output, { recursive: true });
    await removeStored(job, context);
    return await run(planEncoding(source, false, maxRates));
  }
}

/** Whether what was kept may be to blame: ffmpeg could not copy it, or its segments are not as they have to be. */
function isFaultOfSource(error: unknown): boolean {
  const cause = error instanceof TranscodeFailure ? error.cause : error;
  return cause instanceof UnfitSegmentError || (cause instanceof ToolError && cause.end === 'exit');
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
  const { encodeSeconds, stallSeconds } = settings.limits;
  const failure = new AbortController();
  const signal = AbortSignal.any([context.signal, failure.signal]);
  const uploads = new SegmentUploads({
    folder: join(directory, OUTPUT_FOLDER),
    objects: context.objects,
    contentKey: job.contentKey,
    keyOf: (rendition, sequence) => segmentKey(job, rendition, sequence),
    maxSegments: Math.ceil(plan.duration / plan.segmentSeconds) + 1,
    signal,
    onFailure: (reason) => failure.abort(reason),
  });
  try {
    await runFfmpeg(ffmpegArguments(plan, settings), {
      program: context.tools.ffmpeg,
      cwd: directory,
      signal,
      limitSeconds: encodeSeconds.fixed + encodeSeconds.perSecondOfVideo * plan.duration,
      stallSeconds,
      onProgress: (frames) => {
        context.onProgress(Math.min(1, frames / plan.frames));
        void uploads.collect();
      },
      mustWait: () => uploads.isBehind,
    });
    context.logger.info('transcode.encoded', { videoId: job.videoId, attempt: job.attempt });
    const [stored, images] = await Promise.all([
      uploads.finish(),
      storeImages(join(directory, OUTPUT_FOLDER), plan.images, job, { objects: context.objects, signal }),
    ]);
    return { stored, images };
  } catch (error) {
    throw error instanceof ToolError ? explainToolError(error, 'encode') : error;
  } finally {
    // An upload that outlived the job would put segments where somebody has just cleaned up.
    failure.abort();
    await uploads.settle();
  }
}
