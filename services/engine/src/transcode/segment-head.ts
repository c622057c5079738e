import { open } from 'node:fs/promises';
import { aacCodecString, avcCodecString, startsWithIdr } from './codec-strings.ts';
import { refusal, type TranscodeFailure } from './transcode-failure.ts';
import { elementaryStream, firstTimestamp } from './transport-stream.ts';

/** What the first packets of a segment say. */
export type SegmentHead = {
  /** RFC 6381 string. */
  codecs: string;
  /** Seconds at which its first unit is presented. */
  start: number;
};

/** A segment is not what every segment has to be. */
export class UnfitSegmentError extends Error {
  override name = 'UnfitSegmentError';
}

/** Enough packets to find parameter sets and the beginning of the first picture. */
const HEAD_BYTES = 188 * 100;

/**
 * Reads the beginning of a finished segment. Throws an UnfitSegmentError when it is video that does not begin with
 * parameter sets and an IDR picture (HLS authoring specification 7.4), and a refusal when it is empty.
 */
export async function readSegmentHead(path: string, kind: 'video' | 'audio'): Promise<SegmentHead> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    if (bytesRead === 0) throw emptySegment(kind);
    const head = buffer.subarray(0, bytesRead);
    const stream = elementaryStream(head);
    const start = firstTimestamp(head);
    if (kind === 'audio') return { codecs: aacCodecString(stream), start };
    if (!startsWithIdr(stream)) throw new UnfitSegmentError('A segment does not begin with an IDR picture');
    return { codecs: avcCodecString(stream), start };
  } finally {
    await file.close();
  }
}

/** Packets there were, or the file had been refused; so none of them could be decoded. */
function emptySegment(kind: 'video' | 'audio'): TranscodeFailure {
  const cause = new UnfitSegmentError(`A segment of ${kind} is empty`);
  return refusal('malformed_media', `Nothing of the ${kind} track can be decoded.`, cause);
}
