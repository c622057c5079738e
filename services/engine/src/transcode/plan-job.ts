import { PLAN_VERSION, type TranscodePlan } from '@framelane/contracts/transcode-plan';
import { videoFacts } from '../output/manifest.ts';
import { planTasks } from '../plan/tasks.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';
import type { PlannedSource } from './next-plan.ts';
import { type CaptionsContext, type TextTrack, toCaptions } from './text-tracks.ts';

/**
 * A piece that is encoded again must be identical. With a maximum bit rate, x264 has the same output in every run only with one thread
 * (measured). An engine runs as many pieces at a time as it has processors.
 */
const ENCODER_THREADS = 1;

/**
 * The plan of a video that is transcoded in tasks; null if it is transcoded in one run, because it is short or cannot be cut.
 *
 * @param pieceSeconds the duration of a piece
 */
export async function planVideo(
  { source, plan }: PlannedSource,
  texts: readonly TextTrack[],
  { preset, iFrames }: Pick<TranscodeSettings, 'preset' | 'iFrames'>,
  pieceSeconds: number,
  context: CaptionsContext,
): Promise<TranscodePlan | null> {
  const cut = planTasks(source, plan, pieceSeconds);
  if (cut === null) return null;
  const { obstacles: _, ...encode } = plan;
  return {
    version: PLAN_VERSION,
    encode,
    encoder: { preset, threads: ENCODER_THREADS },
    iFrames,
    facts: videoFacts(source, plan, await toCaptions(texts, plan, context)),
    ...cut,
  };
}
