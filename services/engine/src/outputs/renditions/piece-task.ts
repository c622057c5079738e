import { ALIGNMENT_TOLERANCE_SECONDS } from '@framelane/contracts/joined-manifest';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { Piece, PieceTask } from '@framelane/contracts/outputs/piece-task';
import type { TaskPlan } from '@framelane/contracts/transcode-plan';
import { InvalidSegmentError } from '../../packagers/packager.ts';
import { encodedRenditions, iFrameSource } from '../../plan/encode-plan.ts';
import { toNumber } from '../../source/frame-rate.ts';
import type { TaskKind } from '../kinds.ts';
import { namesOf, noOthers, type RunContext, runAndStore, type TaskOutput } from '../stored-run.ts';
import { describeStored } from './describe-stored.ts';
import { pieceArguments } from './piece-arguments.ts';
import { FIRST_PIECES, planPieces } from './plan-pieces.ts';
import type { StoredSegments } from './segment-uploads.ts';

/** Some segments of all encoded renditions of a long video. */
export const PIECE: TaskKind<PieceTask> = {
  plan: (video) => {
    if (encodedRenditions(video.encode).length === 0) return [];
    const pieces = planPieces(video, FIRST_PIECES);
    // One run of the whole video would do the same.
    if (pieces.length === 1) return null;
    return pieces.map((piece, at) => ({ task: { kind: 'piece', ...piece }, turn: at }));
  },
  run: runPiece,
  seconds: ({ frames }, { encode }) => frames / toNumber(encode.frameRate),
};

/**
 * Encodes some segments of all encoded renditions of a plan.
 *
 * @param options.isBackground whether other work has priority
 */
export async function runPiece(
  { plan, work: piece, output }: { plan: TaskPlan; work: Piece; output: TaskOutput },
  directory: string,
  context: RunContext,
  { isBackground = false } = {},
): Promise<TaskResult> {
  const { encode, encoder, iFrames, segmentStarts } = plan;
  const videoRenditions = encodedRenditions(encode);
  const { firstSegment, firstIFrame, frames } = piece;
  const count = piece.segmentStarts.length;
  const { stored } = await runAndStore(
    {
      output,
      isBackground,
      commandLine: pieceArguments(encode, piece, { encoder, threads: context.settings.threads }),
      seconds: frames / toNumber(encode.frameRate),
      progress: { key: 'frame', end: Math.ceil(frames / (videoRenditions[0]?.frameStep ?? 1)) },
      segments: {
        renditions: namesOf(videoRenditions),
        iFramesOf: iFrames ? iFrameSource(videoRenditions) : null,
        maxSegments: count,
        piece: { firstSegment, firstIFrame, isFollowed: firstSegment + count < segmentStarts.length },
      },
      storeOthers: noOthers,
    },
    encode,
    directory,
    context,
  );
  // Without stream copies: a gap in encoded renditions does not come from the source.
  const encoded = { ...encode, videoRenditions, audio: [], copiesVideo: false };
  assertPlanned(stored, { ...plan, encode: encoded }, piece);
  return { renditions: describeStored(encoded, stored, piece, piece) };
}

/**
 * Throws if the segments of a piece are not the planned ones. Then the decoder or the encoder produced other frames, and the pieces
 * would not fit together.
 */
function assertPlanned(
  stored: StoredSegments,
  { encode, iFrames }: Pick<TaskPlan, 'encode' | 'iFrames'>,
  piece: Piece,
): void {
  const { firstSegment, firstFrame, segmentStarts } = piece;
  const rate = toNumber(encode.frameRate);
  for (const { name } of encode.videoRenditions) {
    const segments = stored.get(name)?.slice(firstSegment) ?? [];
    if (segments.length !== segmentStarts.length) {
      throw new InvalidSegmentError(`${name} has ${segments.length} segments, not ${segmentStarts.length}`);
    }
    const zero = segments[0]?.start ?? Number.NaN;
    const moved = segments.findIndex(({ start }, at) => {
      const planned = ((segmentStarts[at] ?? Number.NaN) - firstFrame) / rate;
      return !(Math.abs(start - zero - planned) <= ALIGNMENT_TOLERANCE_SECONDS);
    });
    if (moved !== -1) {
      throw new InvalidSegmentError(
        `Segment ${firstSegment + moved} of ${name} starts at another time than planned`,
      );
    }
  }
  const found = stored.get('iframes')?.length ?? 0;
  if (iFrames && found !== piece.iFrames) {
    throw new InvalidSegmentError(`A piece has ${found} I-frames, not ${piece.iFrames}`);
  }
}
