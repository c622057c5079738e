import type { Hardware } from '@framelane/contracts/hardware';
import type { HdrChoice } from '@framelane/contracts/hdr';
import type { AlternativeCodec } from '@framelane/contracts/renditions';
import { PLAN_VERSION, type TranscodePlan } from '@framelane/contracts/transcode-plan';
import { planOptionalTasks, planTasks } from '../outputs/plan-tasks.ts';
import { planAlternatives } from '../plan/alternatives.ts';
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
 * @param codecs those that the video has beside H.264
 * @param hdr what becomes of high dynamic range in these codecs
 * @param pieceSeconds the duration of a piece; null if the video must not be cut
 * @param isWhole whether one run makes everything that the video waits for
 * @param revision the number of plans that this one replaces
 * @param hardware the interface of the device that encodes H.264, instead of software. It makes the whole video: pieces of other engines, with other
 * devices, would have other parameter sets
 */
export async function planVideo(
  { source, plan }: PlannedSource,
  texts: readonly TextTrack[],
  {
    preset,
    threads,
    iFrames,
    codecs,
    ...picture
  }: Pick<TranscodeSettings, 'preset' | 'threads' | 'iFrames' | 'tenBit'> & {
    codecs: readonly AlternativeCodec[];
    hdr: HdrChoice;
  },
  {
    pieceSeconds,
    isWhole = false,
    revision,
    hardware,
  }: { pieceSeconds: number | null; isWhole?: boolean; revision: number; hardware?: Hardware },
  context: CaptionsContext,
): Promise<TranscodePlan> {
  const keyFrames = keyFramesOf(plan, source.gops);
  const mayCut = pieceSeconds !== null && !isWhole && hardware === undefined;
  const tasks = mayCut ? planTasks({ source, encode: plan, keyFrames, pieceSeconds }) : null;
  const { obstacles: _, ...encode } = plan;
  const pixelFormat = source.video?.pixelFormat ?? null;
  const alternatives = planAlternatives(codecs, plan, { ...picture, pixelFormat });
  return {
    version: PLAN_VERSION,
    revision,
    encode,
    alternatives,
    encoder: {
      preset,
      threads: tasks === null ? threads : THREADS_OF_PIECE,
      ...(hardware && { hardware }),
    },
    iFrames,
    facts: videoFacts(source, plan, await toCaptions(texts, plan, context)),
    segmentStarts: keyFrames.segmentStarts,
    tasks: tasks ?? [],
    optionalTasks: planOptionalTasks({ source, encode, keyFrames, pieceSeconds, alternatives }),
  };
}
