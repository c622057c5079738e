import type { CodecPieceTask } from '@framelane/contracts/outputs/codec-piece-task';
import { encodePlanIn } from '@framelane/contracts/transcode-plan';
import { encodedRenditions } from '../../plan/encode-plan.ts';
import type { TaskKind } from '../kinds.ts';
import { codecPieces, runCodecPiece } from './codec-pieces.ts';

/** Some segments of all encoded renditions in a codec that the video does not wait for. */
export const CODEC_PIECE: TaskKind<CodecPieceTask> = {
  plan: () => [],
  planOptional: (video) => {
    const codecs = video.alternatives
      .map(({ codec }) => codec)
      .filter((codec) => encodedRenditions(encodePlanIn(codec, video)).length > 0);
    const pieces = codecs.length === 0 ? [] : codecPieces(video, video.pieceSeconds);
    return codecs.flatMap((codec) => pieces.map((piece) => ({ kind: 'codec_piece', codec, ...piece })));
  },
  run: (job, directory, context) =>
    runCodecPiece(job, encodePlanIn(job.work.codec, job.plan), directory, context),
  // The seconds of the video are counted when it becomes ready.
  seconds: () => 0,
};
