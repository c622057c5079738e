import { join } from 'node:path';
import type { Manifest } from '@framelane/contracts/manifest';
import type { RenditionName } from '@framelane/contracts/renditions';
import type { EncodePlan, TranscodePlan } from '@framelane/contracts/transcode-plan';
import { attemptPrefix, imageKey, segmentKey } from '@framelane/object-store/object-keys';
import { ffmpegArguments } from '../ffmpeg/arguments.ts';
import { storeImages } from '../output/image-uploads.ts';
import { buildManifest } from '../output/manifest.ts';
import { type PlanSettings, planEncoding } from '../plan/encode-plan.ts';
import { OUTPUT_FOLDER, SOURCE_PATH } from '../sandbox/job-folder.ts';
import { parameterSetsChange } from '../source/parameter-sets.ts';
import type { ProbedSource } from '../source/probe.ts';
import { storageFailure } from '../transcode-failure.ts';
import { type JobSource, probeSource, type TranscodeJobContext, withSource } from './job-source.ts';
import { nextPlan, type PlannedSource, withoutAudioTrack } from './next-plan.ts';
import { planVideo } from './plan-job.ts';
import { runAndStore } from './stored-run.ts';
import { readTextTracks, type TextTrack, toCaptions } from './text-tracks.ts';
import { removeTree } from './work-directory.ts';

/** One attempt at one video. */
export type TranscodeJob = JobSource & {
  workspaceId: string;
  attempt: number;
  /** Whether the control plane accepts more than one audio rendition. Earlier versions do not. */
  acceptsSeveralAudioTracks: boolean;
  /** Seconds of a piece of a long video; undefined if the video is transcoded in one run. */
  pieceSeconds: number | undefined;
  contentKey: Uint8Array;
};

/** The result of an attempt: the video, or its plan if it is long. The hash is lower-case hex. */
export type TranscodeResult = ({ manifest: Manifest } | { plan: TranscodePlan }) & { sourceSha256?: string };

/**
 * Runs one attempt in its own directory and removes the directory. Throws a TranscodeFailure, or the signal's reason when
 * aborted. After a failure, stored segments remain; the caller removes them.
 */
export async function runTranscodeJob(
  job: TranscodeJob,
  context: TranscodeJobContext,
): Promise<TranscodeResult> {
  const { metrics, settings, sources } = context;
  return withSource(job, context, async (directory, sourceSha256) => {
    const planSettings = { ...settings, surround: settings.surround && job.acceptsSeveralAudioTracks };
    const { planned, texts } = await metrics.inStage('probe', async () => {
      const probed = await probeSource(directory, context);
      const { source, texts } = await readTextTracks(
        job.acceptsSeveralAudioTracks ? probed : withFirstAudio(probed),
        directory,
        context,
      );
      return { planned: await planSource(source, planSettings, directory, context), texts };
    });
    const hash = sourceSha256 === undefined ? {} : { sourceSha256 };
    const { pieceSeconds } = job;
    const plan =
      pieceSeconds === undefined
        ? null
        : await planVideo(planned, texts, settings, pieceSeconds, { directory, logger: context.logger });
    if (plan !== null) {
      await sources.keep(job, join(directory, SOURCE_PATH));
      return { plan, ...hash };
    }
    const manifest = await metrics.inStage('encode', () =>
      transcode(job, planned, texts, planSettings, directory, context),
    );
    return { manifest, ...hash };
  });
}

/** The first plan. Reads the parameter sets only if everything else allows passthrough: then ffmpeg reads the file once more. */
async function planSource(
  source: ProbedSource,
  settings: PlanSettings,
  directory: string,
  { tools, settings: { limits }, signal }: TranscodeJobContext,
): Promise<PlannedSource> {
  const plan = planEncoding(source, { allowPassthrough: true, ...settings });
  if (!plan.videoPassthrough) return { source, plan };
  const options = { program: tools.lightFfmpeg, cwd: directory, signal, limits };
  if (!(await parameterSetsChange(plan.videoIndex, options))) return { source, plan };
  const changing = { ...source, gops: 'parameter_sets' } as const;
  return { source: changing, plan: planEncoding(changing, { allowPassthrough: true, ...settings }) };
}

function withFirstAudio(source: ProbedSource): ProbedSource {
  return source.audio.slice(1).reduce((rest, { index }) => withoutAudioTrack(rest, index), source);
}

/** Transcodes with the best plan, and with the next one if that fails because of the source. */
async function transcode(
  job: TranscodeJob,
  first: PlannedSource,
  texts: readonly TextTrack[],
  settings: PlanSettings,
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
    const { stored, others } = await runPlan(job, plan, directory, context);
    const captions = await toCaptions(texts, plan, { directory, logger: context.logger });
    return buildManifest(source, plan, stored, { ...others, captions });
  };
  let planned = first;
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

/** Produces all renditions and images in one run. */
function runPlan(job: TranscodeJob, plan: EncodePlan, directory: string, context: TranscodeJobContext) {
  const { settings, objects } = context;
  const run = {
    facts: { videoId: job.videoId, attempt: job.attempt },
    commandLine: ffmpegArguments(plan, settings),
    seconds: plan.duration,
    // ffmpeg reports the frame number of its first output, the lowest rendition.
    progress: { key: 'frame', end: Math.ceil(plan.frames / (plan.rungs[0]?.frameStep ?? 1)) } as const,
    segments: {
      renditions: renditionsOf(plan),
      iFramesOf: settings.iFrames ? (plan.rungs[0]?.name ?? null) : null,
      maxSegments: Math.ceil(plan.duration / plan.segmentSeconds) + 1,
    },
    contentKey: job.contentKey,
    keyOf: (rendition: RenditionName, sequence: number) => segmentKey(job, rendition, sequence),
  };
  return runAndStore(
    {
      ...run,
      storeOthers: (output, signal) =>
        storeImages(output, plan.images, { objects, keyOf: (name) => imageKey(job, name), signal }),
    },
    plan,
    directory,
    context,
  );
}

function renditionsOf({ rungs, audio }: EncodePlan): Set<RenditionName> {
  return new Set([...rungs, ...audio].map(({ name }) => name));
}
