import { createHash, type Hash } from 'node:crypto';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '@framelane/contracts/manifest';
import type { RenditionName } from '@framelane/contracts/renditions';
import { attemptPrefix, segmentKey } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Logger } from '@framelane/service-kit/logger';
import { ffmpegArguments } from '../ffmpeg/arguments.ts';
import { explainToolError } from '../ffmpeg/errors.ts';
import type { MediaTools } from '../ffmpeg/media-tools.ts';
import { runFfmpeg } from '../ffmpeg/run-ffmpeg.ts';
import { ToolError } from '../ffmpeg/run-tool.ts';
import type { EngineMetrics } from '../metrics/engine-metrics.ts';
import { storeImages } from '../output/image-uploads.ts';
import { buildManifest } from '../output/manifest.ts';
import { SegmentUploads, type StoredSegments } from '../output/segment-uploads.ts';
import { withStorageRetries } from '../output/storage-retries.ts';
import { hostileOutput, ToolOutput, ToolOutputError } from '../output/tool-output.ts';
import { type EncodePlan, planEncoding } from '../plan/encode-plan.ts';
import { BUFFER_SECONDS } from '../plan/passthrough.ts';
import { grantFile, grantFolder, OUTPUT_FOLDER, SOURCE_FOLDER, SOURCE_PATH } from '../sandbox/job-folder.ts';
import { MAX_GOP_SECONDS } from '../source/gop-scan.ts';
import { type ProbedSource, probe } from '../source/probe.ts';
import { storageFailure } from '../transcode-failure.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';
import type { Reservation } from './disk-reservations.ts';
import { nextPlan, type PlannedSource, withoutAudio } from './next-plan.ts';
import { readTextTracks, type TextTrack, toCaptions } from './text-tracks.ts';
import { removeTree } from './work-directory.ts';

/** One attempt at one video. */
export type TranscodeJob = {
  workspaceId: string;
  videoId: string;
  attempt: number;
  sourceKey: string;
  sourceBytes: number;
  /** Whether to compute the SHA-256 of the source. */
  hashSource: boolean;
  /** Whether the result can have more than one audio rendition. */
  severalAudioTracks: boolean;
  contentKey: Uint8Array;
};

/** The result of an attempt. The hash is lower-case hex. */
export type TranscodeResult = { manifest: Manifest; sourceSha256?: string };

export type TranscodeJobContext = {
  objects: ObjectStore;
  tools: MediaTools;
  settings: TranscodeSettings;
  /** The job creates its directory here. */
  jobsDir: string;
  /** Its disk space (see `diskNeed`). */
  disk: Reservation;
  logger: Logger;
  metrics: Pick<EngineMetrics, 'inStage'>;
  signal: AbortSignal;
  /** Called with the progress, 0 to 1. Never decreases. */
  onProgress: (fraction: number) => void;
};

/** Disk space of segments that wait for the object store, relative to the source. */
const OUTPUT_PER_SOURCE = 0.2;

/** Bytes of disk that a job needs: for segments, and for its source unless that is a link to the stored object. */
export function diskNeed(sourceBytes: number, { sourceIsLink }: { sourceIsLink: boolean }): number {
  return sourceBytes * ((sourceIsLink ? 0 : 1) + OUTPUT_PER_SOURCE);
}

const SEGMENT_OVERHEAD_BYTES = 1024 ** 2;

/**
 * Runs one attempt in its own directory and removes the directory. Throws a TranscodeFailure, or the signal's reason when
 * aborted. After a failure, stored segments remain; the caller removes them.
 */
export async function runTranscodeJob(
  job: TranscodeJob,
  context: TranscodeJobContext,
): Promise<TranscodeResult> {
  const { metrics } = context;
  const directory = await mkdtemp(join(context.jobsDir, 'job-'));
  try {
    await mkdir(join(directory, SOURCE_FOLDER));
    await grantFolder(directory, 'pass', context.tools.account);
    await grantFolder(join(directory, SOURCE_FOLDER), 'read', context.tools.account);
    const hash = await metrics.inStage('fetch', () => fetchSource(job, directory, context));
    context.disk.reduceTo(job.sourceBytes * OUTPUT_PER_SOURCE);
    const source = await metrics.inStage('probe', async () => {
      const probed = await probeSource(directory, context);
      return readTextTracks(job.severalAudioTracks ? probed : withFirstAudio(probed), directory, context);
    });
    const manifest = await metrics.inStage('encode', () => transcode(job, source, directory, context));
    return { manifest, ...(hash && { sourceSha256: hash.digest('hex') }) };
  } finally {
    // A directory that cannot be removed does not fail the attempt. The next start of the engine removes it.
    await removeTree(directory).catch((error: unknown) =>
      context.logger.error('transcode.directory_not_removed', { videoId: job.videoId, directory, error }),
    );
  }
}

/** The store resumes an interrupted download; a failed one is retried from the beginning. Hashes the source on the way. */
async function fetchSource(
  { sourceKey, hashSource }: TranscodeJob,
  directory: string,
  { objects, tools, signal }: TranscodeJobContext,
): Promise<Hash | undefined> {
  const path = join(directory, SOURCE_PATH);
  const hash = await withStorageRetries(async () => {
    const attempt = hashSource ? createHash('sha256') : undefined;
    await objects.fetchToFile(sourceKey, path, signal, attempt);
    return attempt;
  }, signal);
  await grantFile(path, tools.account);
  return hash;
}

function withFirstAudio(source: ProbedSource): ProbedSource {
  return source.audio.slice(1).reduce((rest, { index }) => withoutAudio(rest, index), source);
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

/** Transcodes with the best plan, and with the next one if that fails because of the source. */
async function transcode(
  job: TranscodeJob,
  { source, texts }: { source: ProbedSource; texts: readonly TextTrack[] },
  directory: string,
  context: TranscodeJobContext,
): Promise<Manifest> {
  const facts = { videoId: job.videoId, attempt: job.attempt };
  const output = join(directory, OUTPUT_FOLDER);
  const run = async ({ plan, source }: PlannedSource) => {
    const { rungs, audio, videoPassthrough, obstacles } = plan;
    context.logger.info('transcode.planned', {
      ...facts,
      renditions: rungs.length,
      audioRenditions: audio.length,
      videoPassthrough,
      obstacles,
    });
    await mkdir(output);
    await grantFolder(output, 'write', context.tools.account);
    const { stored, images } = await runPlan(job, plan, directory, context);
    return buildManifest(source, plan, stored, { ...images, captions: toCaptions(texts, plan) });
  };
  // Control planes of earlier versions take one audio rendition.
  const surround = context.settings.surround && job.severalAudioTracks;
  const settings = { ...context.settings, surround };
  let planned: PlannedSource = { source, plan: planEncoding(source, true, settings) };
  for (;;) {
    try {
      return await run(planned);
    } catch (error) {
      const next = nextPlan(planned, error, settings);
      if (!next) throw error;
      context.logger.warn(next.log, { ...facts, error });
      await removeTree(output);
      await removeStored(job, context);
      planned = next;
    }
  }
}

async function removeStored(job: TranscodeJob, { objects }: TranscodeJobContext): Promise<void> {
  try {
    await objects.deletePrefix(attemptPrefix(job.workspaceId, job.videoId, job.attempt));
  } catch (error) {
    throw storageFailure(error);
  }
}

/** Runs ffmpeg, and stores segments while it runs and images afterwards. */
async function runPlan(
  job: TranscodeJob,
  plan: EncodePlan,
  directory: string,
  context: TranscodeJobContext,
): Promise<{ stored: StoredSegments; images: Pick<Manifest, 'poster' | 'storyboard'> }> {
  const { settings } = context;
  const { encodeSeconds, stallSeconds, memoryBytes } = settings.limits;
  // ffmpeg reports the frame number of its first output, the lowest rendition.
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
    iFramesOf: settings.iFrames ? (plan.rungs[0]?.name ?? null) : null,
    maxSegments: Math.ceil(plan.duration / plan.segmentSeconds) + 1,
    maxBytes: maxSegmentBytes(plan),
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
    const storing = [
      uploads.finish(),
      storeImages(output, plan.images, job, { objects: context.objects, signal }),
    ] as const;
    // Waits for both, also after a failure: else an image could be stored after the caller has removed the attempt's objects.
    await Promise.allSettled(storing);
    const [stored, images] = await Promise.all(storing);
    return { stored, images };
  } catch (error) {
    if (error instanceof ToolOutputError) throw hostileOutput(error);
    throw error instanceof ToolError ? explainToolError(error, 'encode') : error;
  } finally {
    // Otherwise an upload could store a segment after the caller has removed the attempt's objects.
    failure.abort();
    await uploads.settle();
    await output.close();
  }
}

/** Size limit of a segment: twice the bytes that the highest maximum bit rate and its buffer allow, plus packet overhead. */
function maxSegmentBytes({ rungs, segmentSeconds }: EncodePlan): number {
  const highest = Math.max(...rungs.map(({ maxRate }) => maxRate));
  const seconds = segmentSeconds + MAX_GOP_SECONDS + BUFFER_SECONDS;
  return SEGMENT_OVERHEAD_BYTES + 2 * (highest / 8) * seconds;
}

function renditionsOf({ rungs, audio }: EncodePlan): Set<RenditionName> {
  return new Set([...rungs, ...audio].map(({ name }) => name));
}
