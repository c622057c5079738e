import { join } from 'node:path';
import type { AudioOnlyRule } from '@framelane/contracts/internal-api';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { PackagingName } from '@framelane/contracts/packaging';
import type { TranscodePlan } from '@framelane/contracts/transcode-plan';
import type { Trim } from '@framelane/contracts/trim';
import type { ClaimedWatermark } from '@framelane/contracts/watermark';
import { revised } from '@framelane/object-store/object-keys';
import { encoderOf } from '../encoders/encoders.ts';
import type { TaskOutput } from '../outputs/stored-run.ts';
import { runWhole } from '../outputs/whole-run.ts';
import { planEncoding } from '../plan/encode-plan.ts';
import type { PlanSettings } from '../plan/explained-plan.ts';
import { OUTPUT_FOLDER, SOURCE_PATH } from '../sandbox/job-folder.ts';
import { parameterSetsChange } from '../source/parameter-sets.ts';
import type { ProbedSource } from '../source/probe.ts';
import { checkDuration } from '../source/source-checks.ts';
import { storageFailure } from '../transcode-failure.ts';
import { type JobSource, probeSource, type TranscodeJobContext, withSource } from './job-source.ts';
import { nextPlan, type PlannedSource } from './next-plan.ts';
import { planVideo } from './plan-job.ts';
import { planWatermark } from './plan-watermark.ts';
import { readTextTracks } from './text-tracks.ts';
import { removeTree } from './work-directory.ts';

/** A try of the first task of an attempt. */
export type PlanningJob = {
  source: JobSource;
  /** Seconds of a piece of a long video; null if the video must not be cut. */
  pieceSeconds: number | null;
  /** Whether sound alone is accepted. */
  audioOnly: AudioOnlyRule;
  packaging: PackagingName;
  /** The part of the source that the video has; undefined for all. */
  trim?: Trim | undefined;
  /** Its image is in the folder of the source. */
  watermark?: ClaimedWatermark | undefined;
  output: TaskOutput;
  /** Hands a plan to the control plane, in place of an earlier one. Rejects if the try is obsolete. The hash is that of the source. */
  storePlan: (plan: TranscodePlan, sourceSha256: string | undefined) => Promise<void>;
};

/**
 * Plans a video, and makes all its outputs if the plan has no tasks. Resolves with the result; undefined if the plan has tasks. Runs in a
 * directory of its own, which it removes. Throws a TranscodeFailure, or the signal's reason when aborted. After a failure, stored objects
 * remain; the caller removes them.
 */
export async function runPlanning(
  job: PlanningJob,
  context: TranscodeJobContext,
): Promise<{ plan: TranscodePlan; result: TaskResult | undefined }> {
  return withSource(job.source, context, async (directory, sourceSha256) => {
    const { metrics } = context;
    const watermark = job.watermark && (await planWatermark(job.watermark, directory, context));
    const { audioOnly, packaging, trim } = job;
    const settings = { ...context.settings, packaging, watermark, trim };
    const { planned, texts } = await metrics.inStage('probe', async () => {
      const { source, texts } = await readTextTracks(
        await probeSource(directory, { audioOnly, isTrimmed: trim !== undefined }, context),
        directory,
        context,
      );
      return { planned: await planSource(source, settings, directory, context), texts };
    });
    const store = async (next: PlannedSource, changes: { pieceSeconds: number | null; revision: number }) => {
      const captions = { directory, logger: context.logger };
      const plan = await planVideo(next, texts, settings, changes, captions);
      if (plan.tasks.length > 0) await context.sources.add(job.source, join(directory, SOURCE_PATH));
      await job.storePlan(plan, sourceSha256);
      return plan;
    };
    const plan = await store(planned, { pieceSeconds: job.pieceSeconds, revision: 0 });
    if (plan.tasks.length > 0) return { plan, result: undefined };
    // Later plans are not cut, either: this try has begun to make the outputs.
    const storeNext = (next: PlannedSource, revision: number) =>
      store(next, { pieceSeconds: null, revision });
    return metrics.inStage('encode', () =>
      transcode(job, { planned, plan }, storeNext, directory, { ...context, settings }),
    );
  });
}

/** The first plan. Reads the parameter sets only if everything else allows a stream copy: then ffmpeg reads the file once more. */
async function planSource(
  source: ProbedSource,
  settings: PlanSettings,
  directory: string,
  { tools, settings: { limits }, signal }: TranscodeJobContext,
): Promise<PlannedSource> {
  const plan = planEncoding(source, { allowCopy: true, ...settings });
  if (settings.trim) checkDuration(plan.duration, limits.maxDurationSeconds);
  const [top] = plan.videoRenditions.slice(-1);
  if (!plan.copiesVideo || top === undefined || plan.videoIndex === null) return { source, plan };
  const track = { index: plan.videoIndex, filters: encoderOf(top.name).configurationFilters };
  const options = { program: tools.lightFfmpeg, cwd: directory, signal, limits };
  if (!(await parameterSetsChange(track, options))) return { source, plan };
  const changing = { ...source, gops: 'parameter_sets' } as const;
  return { source: changing, plan: planEncoding(changing, { allowCopy: true, ...settings }) };
}

/** Makes all outputs with the first plan, and with the next one if that fails because of the source. */
async function transcode(
  job: PlanningJob,
  first: { planned: PlannedSource; plan: TranscodePlan },
  store: (next: PlannedSource, revision: number) => Promise<TranscodePlan>,
  directory: string,
  context: TranscodeJobContext & { settings: PlanSettings },
): Promise<{ plan: TranscodePlan; result: TaskResult }> {
  const { logger, settings } = context;
  let { planned, plan } = first;
  let { output } = job;
  for (;;) {
    const { videoRenditions, audio, copiesVideo, obstacles } = planned.plan;
    logger.info('transcode.planned', {
      ...output.facts,
      renditions: videoRenditions.length,
      audioRenditions: audio.length,
      copiesVideo,
      obstacles,
    });
    try {
      return { plan, result: await runWhole(output, plan, directory, context) };
    } catch (error) {
      const next = nextPlan(planned, error, settings);
      if (!next) throw error;
      logger.warn(next.log, { ...output.facts, error });
      await removeTree(join(directory, OUTPUT_FOLDER));
      await context.objects.deletePrefix(output.prefix).catch((cause: unknown) => {
        throw storageFailure(cause);
      });
      output.onStartOver?.();
      planned = next;
      plan = await store(next, plan.revision + 1);
      output = { ...job.output, prefix: revised(job.output.prefix, plan.revision) };
    }
  }
}
