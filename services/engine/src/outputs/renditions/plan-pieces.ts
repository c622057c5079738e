import type { Piece } from '@framelane/contracts/outputs/piece-task';
import { MIN_I_FRAME_SECONDS, ROUNDING_SECONDS } from '../../plan/key-frames.ts';
import { LastIndex } from '../../plan/last-index.ts';
import { PieceBytes } from '../../plan/piece-bytes.ts';
import { seekPoints } from '../../plan/seek.ts';
import { toNumber } from '../../source/frame-rate.ts';
import { isSlow } from '../../source/slow-video.ts';
import type { VideoToCut } from '../kinds.ts';

/** Segments in each of the first pieces of a video that viewers wait for: few at first, so that playback can soon begin while the rest is transcoded. */
export const FIRST_PIECES = [1, 1, 2, 2, 4, 4];

/** If a video starts with short segments, the first three last about as long as a later one, and count as one here. They are stored while the first piece is encoded. */
const SHORT_SEGMENTS = 2;

/** The first segment of each piece, without the short segments, except the first piece. After the first pieces, all have about the same number of segments. */
function cutsOf(segments: number, perPiece: number, firstPieces: readonly number[]): number[] {
  const cuts: number[] = [];
  let begin = 0;
  for (const size of firstPieces) {
    // Each piece costs bits, because its rate control starts again. So only a few pieces are short.
    if (2 * size >= perPiece || begin + size + perPiece > segments) break;
    begin += size;
    cuts.push(begin);
  }
  const count = Math.max(1, Math.round((segments - begin) / perPiece));
  for (let at = 1; at < count; at += 1) cuts.push(begin + Math.round((at * (segments - begin)) / count));
  return cuts;
}

/** Pieces of whole segments: one if the video is short or cannot be cut. `firstPieces` are the segments in each of the first ones. */
export function planPieces(
  { source, encode: plan, keyFrames, pieceSeconds }: VideoToCut,
  firstPieces: readonly number[],
): Piece[] {
  const { layout } = source;
  const { segmentStarts } = keyFrames;
  const firsts = firstsOf({ source, encode: plan, keyFrames, pieceSeconds }, firstPieces);
  const rate = toNumber(plan.frameRate);

  const keyFrameIndex = new LastIndex(keyFrames.all);
  const keyFramesBefore = (frame: number) => keyFrameIndex.below(frame) + 1;
  const pieceBytes = layout && firsts.length > 1 ? new PieceBytes(layout) : null;
  let iFrames = 0;
  return firsts.map(({ segment, seek }, at): Piece => {
    const next = firsts[at + 1]?.segment ?? segmentStarts.length;
    const firstFrame = segmentStarts[segment] ?? 0;
    const end = segmentStarts[next] ?? plan.frames;
    const bytes = pieceBytes?.of({ seek, end: end / rate + plan.lead });
    const piece = {
      firstSegment: segment,
      firstFrame,
      frames: end - firstFrame,
      segmentStarts: segmentStarts.slice(segment, next),
      keyFrames: keyFrames.all.slice(keyFramesBefore(firstFrame), keyFramesBefore(end)),
      seek,
      ...(bytes && { bytes }),
    };
    const firstIFrame = iFrames;
    iFrames += countIFrames(piece, rate);
    return { ...piece, firstIFrame, iFrames: iFrames - firstIFrame };
  });
}

/** The first segment of each piece, and where ffmpeg seeks to before it reads (see `Piece`). */
function firstsOf(
  { source, encode: plan, keyFrames: { segmentStarts }, pieceSeconds }: VideoToCut,
  firstPieces: readonly number[],
): { segment: number; seek: number | null }[] {
  const firsts: { segment: number; seek: number | null }[] = [
    { segment: 0, seek: plan.reading?.seek ?? null },
  ];
  const { entryPoints } = source;
  const entryBefore = seekPoints(source);
  if (entryBefore === null || entryPoints === null) return firsts;
  const rate = toNumber(plan.frameRate);
  const perPiece = Math.max(1, Math.round(pieceSeconds / plan.segmentSeconds));
  const secondOf = (segment: number) => (segmentStarts[segment] ?? 0) / rate + plan.lead;
  const lastCut = lastCutOf(source, entryPoints);
  const shortSegments = plan.startsShort ? SHORT_SEGMENTS : 0;
  for (const cut of cutsOf(segmentStarts.length - shortSegments, perPiece, firstPieces)) {
    const segment = cut + shortSegments;
    const entry = entryBefore(secondOf(segment));
    if (secondOf(segment) > lastCut) break;
    // Where key frames are far apart, each cut would decode the same frames again.
    if (entry > secondOf(firsts.at(-1)?.segment ?? 0)) firsts.push({ segment, seek: entry });
  }
  return firsts;
}

/** The second at which the last piece may begin. The last picture of slow video can be shown for hours, and `fps` repeats no frame after the end. */
function lastCutOf({ timeline }: VideoToCut['source'], entryPoints: readonly number[]): number {
  const isHeld = 'frames' in timeline && isSlow(timeline);
  return isHeld ? (entryPoints.at(-1) ?? 0) : Number.POSITIVE_INFINITY;
}

/** The number of I-frames of the segments, without those that come too early after the previous one. */
function countIFrames(
  { segmentStarts, keyFrames }: Pick<Piece, 'segmentStarts' | 'keyFrames'>,
  rate: number,
) {
  const starts = new Set(segmentStarts);
  let count = 0;
  let previous = Number.NEGATIVE_INFINITY;
  for (const frame of keyFrames) {
    if (starts.has(frame)) previous = Number.NEGATIVE_INFINITY;
    if ((frame - previous) / rate <= MIN_I_FRAME_SECONDS - ROUNDING_SECONDS) continue;
    previous = frame;
    count += 1;
  }
  return count;
}
