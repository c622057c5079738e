import { incompleteOutput, refusal, type TranscodeFailure } from '../transcode-failure.ts';
import { aacCodecString, avcCodecString, startsWithIdr } from './codec-strings.ts';
import { type OutputFile, readFrom, ToolOutputError } from './tool-output.ts';
import {
  elementaryStream,
  firstTimestamp,
  isTransportStream,
  PACKET_BYTES,
  StreamEnd,
} from './transport-stream.ts';

/** What the first and the last packets of a segment say. */
export type SegmentHead = {
  /** RFC 6381 string. */
  codecs: string;
  /** Seconds at which its first unit is presented. */
  start: number;
  /** Seconds at which its last picture begins to be presented, or its sound ends. */
  last: number;
};

/** A segment is not what every segment has to be. */
export class UnfitSegmentError extends Error {
  override name = 'UnfitSegmentError';
}

/** Enough packets to find parameter sets and the beginning of the first picture. */
const HEAD_BYTES = PACKET_BYTES * 100;

/**
 * Reads through a finished segment. Throws an UnfitSegmentError when it is video that does not begin with parameter sets
 * and an IDR picture (HLS authoring specification 7.4), a refusal when it is empty, a failure when it ends within a packet
 * or a unit of sound, and a ToolOutputError when it is no transport stream, or a whole one that does not begin as it has to.
 */
export async function readSegmentHead(
  segment: OutputFile,
  { kind, sequence }: { kind: 'video' | 'audio'; sequence: number },
): Promise<SegmentHead> {
  const { handle, bytes } = segment;
  if (bytes === 0) throw sequence === 0 ? emptySegment(kind) : incompleteOutput('A segment is empty');
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const head = buffer.subarray(0, bytesRead);
  if (!isTransportStream(head)) throw new ToolOutputError('A segment is no transport stream');
  if (bytes % PACKET_BYTES !== 0) throw incompleteOutput('A segment ends within a packet');
  const last = await readEnd(segment, kind);
  try {
    return { ...readStart(head, kind), last };
  } catch (error) {
    if (error instanceof UnfitSegmentError) throw error;
    // It is whole: nothing was cut off that another attempt would have.
    throw new ToolOutputError(`A segment cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function readStart(head: Buffer, kind: 'video' | 'audio'): Omit<SegmentHead, 'last'> {
  const stream = elementaryStream(head);
  const start = firstTimestamp(head);
  if (kind === 'audio') return { codecs: aacCodecString(stream), start };
  if (!startsWithIdr(stream)) throw new UnfitSegmentError('A segment does not begin with an IDR picture');
  return { codecs: avcCodecString(stream), start };
}

async function readEnd(segment: OutputFile, kind: 'video' | 'audio'): Promise<number> {
  const end = new StreamEnd(kind);
  try {
    for await (const chunk of readFrom(segment)) end.push(chunk as Buffer);
    return end.seconds();
  } catch (error) {
    throw incompleteOutput(`A segment has no end: ${(error as Error).message}`);
  }
}

/** Packets there were, or the file had been refused; so none of them could be decoded. */
function emptySegment(kind: 'video' | 'audio'): TranscodeFailure {
  const cause = new UnfitSegmentError(`A segment of ${kind} is empty`);
  return refusal('malformed_media', `Nothing of the ${kind} track can be decoded.`, cause);
}
