import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { Piece } from '@framelane/contracts/outputs/piece-task';
import type { EncodePlan, TaskPlan } from '@framelane/contracts/transcode-plan';
import type { ReadyVideo } from '../kinds.ts';
import type { RunContext, TaskOutput } from '../stored-run.ts';
import { runPiece } from './piece-task.ts';
import { planPieces } from './plan-pieces.ts';

/** A piece in a codec other than H.264. I-frames are those of the H.264 renditions. */
type CodecPiece = Omit<Piece, 'firstIFrame' | 'iFrames'>;
const WITHOUT_I_FRAMES = { firstIFrame: 0, iFrames: 0 };

/** The pieces of a ready video in any codec; one if `pieceSeconds` is null. */
export function codecPieces(video: ReadyVideo, pieceSeconds: number | null): CodecPiece[] {
  // Nobody waits for the first segments.
  const pieces = planPieces({ ...video, pieceSeconds: pieceSeconds ?? Number.POSITIVE_INFINITY }, []);
  return pieces.map(({ firstIFrame: _, iFrames: __, ...piece }) => piece);
}

/** Encodes a piece in the background. `encode` is the plan in its codec. */
export function runCodecPiece(
  { plan, work, output }: { plan: TaskPlan; work: CodecPiece; output: TaskOutput },
  encode: EncodePlan,
  directory: string,
  context: RunContext,
): Promise<TaskResult> {
  const job = { plan: { ...plan, encode, iFrames: false }, work: { ...work, ...WITHOUT_I_FRAMES }, output };
  return runPiece(job, directory, context, { isBackground: true });
}
