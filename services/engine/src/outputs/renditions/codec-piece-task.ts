import type { CodecPieceTask } from '@framelane/contracts/outputs/codec-piece-task';
import { encodePlanIn } from '@framelane/contracts/transcode-plan';
import type { TaskKind } from '../kinds.ts';
import { runPiece } from './piece-task.ts';
import { planPieces } from './plan-pieces.ts';

/** I-frames are those of the H.264 renditions. */
const WITHOUT_I_FRAMES = { firstIFrame: 0, iFrames: 0 };

/** Some segments of all renditions in a codec that the video does not wait for. */
export const CODEC_PIECE: TaskKind<CodecPieceTask> = {
  plan: () => [],
  planOptional: (video) => {
    const pieceSeconds = video.pieceSeconds ?? Number.POSITIVE_INFINITY;
    // Nobody waits for the first segments.
    const pieces = video.alternatives.length === 0 ? [] : planPieces({ ...video, pieceSeconds }, []);
    return video.alternatives.flatMap(({ codec }) =>
      pieces.map(({ firstIFrame: _, iFrames: __, ...piece }) => ({ kind: 'codec_piece', codec, ...piece })),
    );
  },
  run: ({ plan, work, output }, directory, context) => {
    const encode = encodePlanIn(work.codec, plan);
    const job = { plan: { ...plan, encode, iFrames: false }, work: { ...work, ...WITHOUT_I_FRAMES }, output };
    return runPiece(job, directory, context, { isBackground: true });
  },
  // The seconds of the video are counted when it becomes ready.
  seconds: () => 0,
};
