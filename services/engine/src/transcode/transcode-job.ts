import { mkdir, mkdtemp, readFile, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest, RenditionManifest } from '@framelane/contracts/manifest';
import { AUDIO_RENDITION, type RenditionName } from '@framelane/contracts/renditions';
import { segmentKey } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { type EncodePlan, planEncoding } from './encode-plan.ts';
import { ffmpegArguments, SEGMENT_SECONDS } from './ffmpeg-arguments.ts';
import { explainToolError } from './ffmpeg-errors.ts';
import { toNumber } from './frame-rate.ts';
import { OUTPUT_FOLDER, SOURCE_FOLDER, SOURCE_PATH } from './input-limits.ts';
import { readMediaPlaylist } from './media-playlist.ts';
import type { MediaTools } from './media-tools.ts';
import { type ProbedSource, probe } from './probe.ts';
import { runFfmpeg } from './run-ffmpeg.ts';
import { SegmentUploads, type StoredRendition } from './segment-uploads.ts';
import { ToolError } from './tool-error.ts';
import { storageFailure, TranscodeFailure } from './transcode-failure.ts';
import type { TranscodeSettings } from './transcode-settings.ts';

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
  const directory = await mkdtemp(join(context.jobsDir, 'job-'));
  try {
    await assertDiskSpace(directory, job.sourceBytes, context.settings.limits.spareDiskBytes);
    await mkdir(join(directory, SOURCE_FOLDER));
    await mkdir(join(directory, OUTPUT_FOLDER));
    await fetchSource(job, directory, context);
    const source = await probeSource(directory, context);
    const plan = planEncoding(source);
    const stored = await encode(job, plan, directory, context);
    return await describe(source, plan, stored, directory);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function assertDiskSpace(directory: string, sourceBytes: number, spareBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize < sourceBytes * DISK_PER_SOURCE + spareBytes) {
    throw new TranscodeFailure('internal_error', 'The engine has too little disk space.', {
      retryable: true,
    });
  }
}

async function fetchSource(
  job: TranscodeJob,
  directory: string,
  context: TranscodeJobContext,
): Promise<void> {
  try {
    await context.objects.fetchToFile(job.sourceKey, join(directory, SOURCE_PATH), context.signal);
  } catch (error) {
    context.signal.throwIfAborted();
    throw storageFailure(error);
  }
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

/** Runs ffmpeg and stores what it finishes meanwhile. */
async function encode(
  job: TranscodeJob,
  plan: EncodePlan,
  directory: string,
  context: TranscodeJobContext,
): Promise<ReadonlyMap<RenditionName, StoredRendition>> {
  const { settings } = context;
  const { encodeSeconds, stallSeconds } = settings.limits;
  const failure = new AbortController();
  const signal = AbortSignal.any([context.signal, failure.signal]);
  const uploads = new SegmentUploads({
    folder: join(directory, OUTPUT_FOLDER),
    objects: context.objects,
    contentKey: job.contentKey,
    keyOf: (rendition, sequence) => segmentKey(job, rendition, sequence),
    maxSegments: Math.ceil(plan.duration / SEGMENT_SECONDS) + 1,
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
      onProgress: (seconds) => {
        context.onProgress(Math.min(1, seconds / plan.duration));
        void uploads.collect();
      },
      mustWait: () => uploads.isBehind,
    });
    return await uploads.finish();
  } catch (error) {
    throw error instanceof ToolError ? explainToolError(error, 'encode') : error;
  } finally {
    // An upload that outlived the job would put segments where somebody has just cleaned up.
    failure.abort();
    await uploads.settle();
  }
}

async function describe(
  source: ProbedSource,
  plan: EncodePlan,
  stored: ReadonlyMap<RenditionName, StoredRendition>,
  directory: string,
): Promise<Manifest> {
  const renditions: RenditionManifest[] = [];
  const frameRate = toNumber(plan.frameRate);
  for (const { name, width, height } of plan.rungs) {
    const segments = await storedSegments(name, stored, directory);
    renditions.push({ name, ...segments, width, height, frameRate, channels: null, language: null });
  }
  if (plan.audio) {
    const segments = await storedSegments(AUDIO_RENDITION, stored, directory);
    const language = source.audio?.language ?? null;
    renditions.push({
      name: AUDIO_RENDITION,
      ...segments,
      ...{ width: null, height: null, frameRate: null, channels: 2, language },
    });
  }
  return {
    source: {
      container: source.container,
      videoCodec: source.video.codec,
      audioCodec: source.audio?.codec ?? null,
      ...source.video.display,
      frameRate: thousandths(source.timeline.averageRate),
      duration: thousandths(source.timeline.duration),
    },
    duration: thousandths(plan.duration),
    inputIssues: plan.inputIssues,
    renditions,
  };
}

/** Joins the durations ffmpeg lists with the sizes in storage. Throws when they are not about the same segments. */
async function storedSegments(
  name: RenditionName,
  stored: ReadonlyMap<RenditionName, StoredRendition>,
  directory: string,
): Promise<Pick<RenditionManifest, 'codecs' | 'segments'>> {
  const listed = readMediaPlaylist(await readFile(join(directory, OUTPUT_FOLDER, `${name}.m3u8`), 'utf8'));
  const { codecs = '', bytes = [] } = stored.get(name) ?? {};
  const segments = listed.map(({ duration }, sequence) => ({ duration, bytes: bytes[sequence] ?? 0 }));
  if (segments.length !== bytes.length || segments.some((segment) => segment.bytes === 0)) {
    throw new Error(`Rendition ${name} lists ${listed.length} segments, and ${bytes.length} were stored`);
  }
  return { codecs, segments };
}

function thousandths(value: number): number {
  return Math.round(value * 1000) / 1000;
}
