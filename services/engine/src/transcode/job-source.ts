import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { explainToolError } from '../ffmpeg/errors.ts';
import type { MediaTools } from '../ffmpeg/media-tools.ts';
import type { HardwareDevice } from '../hardware/hardware-device.ts';
import type { EngineMetrics } from '../metrics/engine-metrics.ts';
import { withStorageRetries } from '../outputs/storage-retries.ts';
import type { Recognizer } from '../recognizers/recognizer.ts';
import { grantFile, SOURCE_PATH, WATERMARK_PATH } from '../sandbox/job-folder.ts';
import { ToolError } from '../sandbox/run-tool.ts';
import { type ByteRanges, lengthOf } from '../source/byte-ranges.ts';
import type { ProbeOptions } from '../source/ffprobe.ts';
import { type ProbedSource, probe } from '../source/probe.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';
import type { Reservation } from './disk-reservations.ts';
import { type JobDirectoryContext, withJobDirectory } from './job-directory.ts';
import type { SourceCache } from './source-cache.ts';

/** The source of a job. */
export type JobSource = {
  videoId: string;
  sourceKey: string;
  sourceBytes: number;
  /** Whether to compute the SHA-256 of the source. */
  hashSource: boolean;
  /** The image of the watermark, if the job shows one. */
  watermarkImage?: Uint8Array | undefined;
  /** Whether the engine caches the source for other jobs. */
  isShared: boolean;
  /** The parts of the source that the job needs; all if undefined. */
  parts?: ByteRanges | undefined;
};

export type TranscodeJobContext = JobDirectoryContext & {
  objects: ObjectStore;
  sources: SourceCache;
  tools: MediaTools;
  settings: TranscodeSettings;
  /** What encodes video on this engine, unless software does. */
  hardware?: HardwareDevice | undefined;
  recognizer?: Recognizer | undefined;
  /** Its disk space (see `diskNeed`). */
  disk: Reservation;
  metrics: Pick<EngineMetrics, 'inStage'>;
  signal: AbortSignal;
  /** Called with the progress, 0 to 1. It begins again with the next plan of the job (see next-plan.ts). */
  onProgress: (fraction: number) => void;
};

/** Disk space of segments that wait for the object store, relative to the source. */
const OUTPUT_PER_SOURCE = 0.2;

/** Bytes of disk that a job needs: for segments, and for the parts of its source that it must fetch. The job holds its source. */
export function diskNeed(
  source: Pick<JobSource, 'videoId' | 'sourceBytes' | 'parts'>,
  sources: SourceCache,
): number {
  return sources.missingBytes(source, source.parts) + outputNeed(source);
}

function outputNeed({ sourceBytes, parts }: Pick<JobSource, 'sourceBytes' | 'parts'>): number {
  return OUTPUT_PER_SOURCE * (parts ? lengthOf(parts) : sourceBytes);
}

/** Fetches a source into a new directory, runs `work` there, and removes the directory. The hash is lower-case hex. */
export function withSource<T>(
  job: JobSource,
  context: TranscodeJobContext,
  work: (directory: string, sha256: string | undefined) => Promise<T>,
): Promise<T> {
  return withJobDirectory(job.videoId, context, async (directory) => {
    if (job.parts) context.disk.changeTo(diskNeed(job, context.sources));
    const hash = await context.metrics.inStage('fetch', () => fetchSource(job, directory, context));
    context.disk.changeTo(outputNeed(job));
    if (job.watermarkImage) await writeWatermark(directory, job.watermarkImage, context);
    return work(directory, hash?.digest('hex'));
  });
}

/**
 * Retries a failed download: from the beginning, or for a cached source from the point of failure. Hashes the source on request.
 */
async function fetchSource(
  job: JobSource,
  directory: string,
  { sources, tools, signal }: TranscodeJobContext,
): Promise<Hash | undefined> {
  const path = join(directory, SOURCE_PATH);
  const hash = await withStorageRetries(async () => {
    const hashing = job.hashSource ? createHash('sha256') : undefined;
    if (!job.isShared && !sources.has(job.videoId)) {
      await sources.fetch(job, path, signal, hashing);
      return hashing;
    }
    await sources.link(job, path, signal, job.parts);
    if (hashing) for await (const chunk of createReadStream(path, { signal })) hashing.update(chunk);
    return hashing;
  }, signal);
  await grantFile(path, tools.account);
  return hash;
}

async function writeWatermark(
  directory: string,
  image: Uint8Array,
  { tools }: Pick<TranscodeJobContext, 'tools'>,
): Promise<void> {
  const path = join(directory, WATERMARK_PATH);
  await writeFile(path, image);
  await grantFile(path, tools.account);
}

/** Probes the source in a directory. Throws a TranscodeFailure. */
export async function probeSource(
  directory: string,
  { audioOnly, isTrimmed }: Pick<ProbeOptions, 'audioOnly' | 'isTrimmed'>,
  { tools, settings, signal }: Pick<TranscodeJobContext, 'tools' | 'settings' | 'signal'>,
): Promise<ProbedSource> {
  try {
    const { limits } = settings;
    return await probe({ program: tools.ffprobe, cwd: directory, signal, limits, audioOnly, isTrimmed });
  } catch (error) {
    throw error instanceof ToolError ? explainToolError(error, 'probe') : error;
  }
}
