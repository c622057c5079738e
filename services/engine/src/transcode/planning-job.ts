import { join } from 'node:path';
import type { HdrChoice } from '@framelane/contracts/hdr';
import type { AudioOnlyRule } from '@framelane/contracts/internal-api';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { PackagingName } from '@framelane/contracts/packaging';
import type { AlternativeCodec } from '@framelane/contracts/renditions';
import type { TranscodePlan } from '@framelane/contracts/transcode-plan';
import type { Trim } from '@framelane/contracts/trim';
import type { ClaimedWatermark } from '@framelane/contracts/watermark';
import { revised } from '@framelane/object-store/object-keys';
import { explainDeviceFailure } from '../hardware/device-failure.ts';
import type { DeviceUse } from '../hardware/hardware-device.ts';
import type { TaskOutput } from '../outputs/stored-run.ts';
import { runWhole } from '../outputs/whole-run.ts';
import { encodedRenditions } from '../plan/encode-plan.ts';
import type { PlanSettings } from '../plan/explained-plan.ts';
import { OUTPUT_FOLDER, SOURCE_PATH } from '../sandbox/job-folder.ts';
import { removeTree } from '../sandbox/remove-tree.ts';
import { ToolError } from '../sandbox/run-tool.ts';
import { ToolOutputError } from '../sandbox/tool-output.ts';
import { storageFailure, TranscodeFailure } from '../transcode-failure.ts';
import { type JobSource, probeSource, type TranscodeJobContext, withSource } from './job-source.ts';
import { nextPlan, type PlannedSource } from './next-plan.ts';
import { planVideo } from './plan-job.ts';
import { planSource } from './plan-source.ts';
import { planWatermark } from './plan-watermark.ts';
import { readTextTracks } from './text-tracks.ts';

/** A try of the first task of an attempt. */
export type PlanningJob = {
  source: JobSource;
  /** Seconds of a piece of a long video; null if the video must not be cut. */
  pieceSeconds: number | null;
  /** Whether sound alone is accepted. */
  audioOnly: AudioOnlyRule;
  packaging: PackagingName;
  /** The codecs that the video has beside H.264. */
  codecs: readonly AlternativeCodec[];
  /** What becomes of high dynamic range in these codecs. */
  hdr: HdrChoice;
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
    const { audioOnly, packaging, codecs, hdr, trim, pieceSeconds } = job;
    const settings = { ...context.settings, packaging, codecs, hdr, watermark, trim };
    const { planned, texts } = await metrics.inStage('probe', async () => {
      const { source, texts } = await readTextTracks(
        await probeSource(directory, { audioOnly, isTrimmed: trim !== undefined }, context),
        directory,
        context,
      );
      return { planned: await planSource(source, settings, directory, context), texts };
    });
    const store = async (next: PlannedSource, changes: Parameters<typeof planVideo>[3]) => {
      const captions = { directory, logger: context.logger };
      const plan = await planVideo(next, texts, settings, changes, captions);
      if (plan.tasks.length > 0) await context.sources.add(job.source, join(directory, SOURCE_PATH));
      await job.storePlan(plan, sourceSha256);
      return plan;
    };
    const device = await takeDevice(planned, job, context);
    try {
      const plan = await store(planned, {
        pieceSeconds,
        revision: 0,
        ...(device && { hardware: device.run.hardware }),
      });
      if (plan.tasks.length > 0) return { plan, result: undefined };
      // Later plans are not cut, either: this try has begun to make the outputs.
      const storeNext = (next: PlannedSource, revision: number) =>
        store(next, { pieceSeconds, isWhole: true, revision });
      return await metrics.inStage('encode', () =>
        transcode(job, { planned, plan, device }, storeNext, directory, { ...context, settings }),
      );
    } finally {
      device?.release();
    }
  });
}

/**
 * Takes the device of the engine for a video; null without one, or if software has to encode the video. Software makes all later attempts: the
 * device may be why the first one ended.
 */
async function takeDevice(
  { plan }: PlannedSource,
  { output }: PlanningJob,
  { hardware }: TranscodeJobContext,
): Promise<DeviceUse | null> {
  if (hardware === undefined || output.facts.attempt > 1) return null;
  return hardware.take(encodedRenditions(plan));
}

/** Whether software may succeed where the device has failed: not if the storage has failed, or the file has taken over ffmpeg. */
function isDeviceFailure(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted) return false;
  if (!(error instanceof TranscodeFailure)) return true;
  return error.code !== 'storage_failed' && !(error.cause instanceof ToolOutputError);
}

/** Makes all outputs with the first plan, and with the next one if that fails because of the source, or by software if the device fails. */
async function transcode(
  job: PlanningJob,
  first: { planned: PlannedSource; plan: TranscodePlan; device: DeviceUse | null },
  store: (next: PlannedSource, revision: number) => Promise<TranscodePlan>,
  directory: string,
  context: TranscodeJobContext & { settings: PlanSettings },
): Promise<{ plan: TranscodePlan; result: TaskResult }> {
  const { logger, settings } = context;
  let { planned, plan, device } = first;
  let { output } = job;
  for (;;) {
    const {
      videoRenditions,
      audio,
      copiesVideo,
      copiedAlternative = null,
      keyFrames,
      obstacles,
    } = planned.plan;
    logger.info('transcode.planned', {
      ...output.facts,
      renditions: videoRenditions.length,
      audioRenditions: audio.length,
      copiesVideo,
      copiedAlternative,
      hasFewerKeyFrames: keyFrames !== undefined,
      obstacles,
      hardware: plan.encoder.hardware ?? null,
    });
    try {
      const result = await runWhole(output, plan, directory, { ...context, device: device?.run });
      device?.encoded();
      return { plan, result };
    } catch (error) {
      const next = device ? bySoftware(planned, error, context.signal) : nextPlan(planned, error, settings);
      if (!next) throw error;
      logger.warn(next.log, { ...output.facts, ...(device && deviceFacts(error)), error });
      device?.failed();
      device?.release();
      device = null;
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

/** The same plan again, after the device has failed. Null if software would not do better. */
function bySoftware(planned: PlannedSource, error: unknown, signal: AbortSignal) {
  return isDeviceFailure(error, signal) ? { ...planned, log: 'transcode.device_failed' } : null;
}

/** Why a run has failed on the device, for the log. */
function deviceFacts(error: unknown): { reason?: string } {
  const cause = error instanceof TranscodeFailure ? error.cause : error;
  return cause instanceof ToolError ? { reason: explainDeviceFailure(cause.stderr) } : {};
}
