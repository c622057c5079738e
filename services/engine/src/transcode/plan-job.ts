import type { Hardware } from '@framelane/contracts/hardware';
import { PLAN_VERSION, type TranscodePlan } from '@framelane/contracts/transcode-plan';
import { planOptionalTasks, planTasks } from '../outputs/plan-tasks.ts';
import { keyFramesOf } from '../plan/key-frames.ts';
import { videoFacts } from '../plan/video-facts.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';
import type { PlannedSource } from './next-plan.ts';
import { type CaptionsContext, type TextTrack, toCaptions } from './text-tracks.ts';

/**
 * A piece that is encoded again must be identical. With a maximum bit rate, x264 has the same output in every run only with one thread
 * (measured). An engine runs as many pieces at a time as it has processors.
 */
const THREADS_OF_PIECE = 1;

/**
 * The plan of a video. It has no tasks if the video is short or cannot be cut: then one run makes everything.
 *
 * @param pieceSeconds the duration of a piece; null if the video must not be cut
 * @param revision the number of plans that this one replaces
 * @param hardware the interface of the device that encodes video, instead of software. Then the video must not be cut
 */
export async function planVideo(
  { source, plan }: PlannedSource,
  texts: readonly TextTrack[],
  { preset, threads, iFrames }: Pick<TranscodeSettings, 'preset' | 'threads' | 'iFrames'>,
  {
    pieceSeconds,
    revision,
    hardware,
  }: { pieceSeconds: number | null; revision: number; hardware?: Hardware },
  context: CaptionsContext,
): Promise<TranscodePlan> {
  const keyFrames = keyFramesOf(plan, source.gops);
  const tasks = pieceSeconds === null ? null : planTasks({ source, encode: plan, keyFrames, pieceSeconds });
  const { obstacles: _, ...encode } = plan;
  return {
    version: PLAN_VERSION,
    revision,
    encode,
    encoder: {
      preset,
      threads: tasks === null ? threads : THREADS_OF_PIECE,
      ...(hardware && { hardware }),
    },
    iFrames,
    facts: videoFacts(source, plan, await toCaptions(texts, plan, context)),
    segmentStarts: keyFrames.segmentStarts,
    tasks: tasks ?? [],
    optionalTasks: planOptionalTasks({ source, encode, keyFrames }, tasks !== null),
  };
}
