import { isAudioRendition, type RenditionName } from '@framelane/contracts/renditions';
import { incompleteOutput, refusal, type TranscodeFailure } from '../transcode-failure.ts';
import { aacCodecString, avcCodecString, startsWithIdr } from './codec-strings.ts';
import { AdtsHeaders, ParameterSets, type StreamConfiguration } from './stream-configuration.ts';
import { type OutputFile, readFrom, ToolOutputError } from './tool-output.ts';
import {
  elementaryStream,
  firstTimestamp,
  IncompleteFrameError,
  isTransportStream,
  PACKET_BYTES,
  StreamEnd,
} from './transport-stream.ts';

/** What the packets of a segment show. */
export type SegmentInfo = {
  /** RFC 6381 string. */
  codecs: string;
  /** Presentation time of the first access unit, in seconds. */
  start: number;
  /** Video: presentation time of the last frame. Audio: the end of the last frame. In seconds. */
  last: number;
  /** Number of PES packets. Each one of video contains one frame. */
  pesPackets: number;
  /** Of a passthrough: its parameter set or ADTS header, in a form to compare. Null if encoded: encoders do not change it. */
  configuration: string | null;
};

/** A stored segment, with the size of its ciphertext. */
export type StoredSegment = Omit<SegmentInfo, 'configuration'> & { bytes: number };

/** A segment breaks a rule of HLS. With passthrough, encoding the source avoids that. */
export class InvalidSegmentError extends Error {
  override name = 'InvalidSegmentError';
}

/** The first segment of a rendition is empty: the decoder rejected the whole track. */
export class EmptyRenditionError extends InvalidSegmentError {
  override name = 'EmptyRenditionError';
  readonly rendition: RenditionName;

  constructor(rendition: RenditionName) {
    super(`A segment of ${rendition} is empty`);
    this.rendition = rendition;
  }
}

/** Enough packets for the parameter sets and the beginning of the first frame. */
const HEAD_BYTES = PACKET_BYTES * 100;

/**
 * Reads a finished segment from its beginning to its end. Throws
 * - an InvalidSegmentError if video does not begin with parameter sets and an IDR picture (HLS authoring specification 7.4), if
 *   the last audio frame of a passthrough is incomplete, or its parameter sets or ADTS headers change, as they may in the source,
 * - a refusal if the first segment is empty,
 * - a retryable failure if the segment is truncated: it is empty but not the first one, its last packet is incomplete, or it is
 *   encoded audio whose last frame is incomplete,
 * - a ToolOutputError if it is not a transport stream, or its beginning cannot be parsed.
 */
export async function readSegmentInfo(
  segment: OutputFile,
  {
    rendition,
    sequence,
    isPassthrough,
  }: { rendition: RenditionName; sequence: number; isPassthrough: boolean },
): Promise<SegmentInfo> {
  const { handle, bytes } = segment;
  if (bytes === 0) throw sequence === 0 ? emptyTrack(rendition) : incompleteOutput('A segment is empty');
  const kind = isAudioRendition(rendition) ? 'audio' : 'video';
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const head = buffer.subarray(0, bytesRead);
  if (!isTransportStream(head)) throw new ToolOutputError('A segment is not a transport stream');
  if (bytes % PACKET_BYTES !== 0) throw incompleteOutput('The last packet of a segment is truncated');
  const end = await readEnd(segment, { kind, isPassthrough });
  try {
    return { ...readStart(head, kind), ...end };
  } catch (error) {
    if (error instanceof InvalidSegmentError) throw error;
    // The segment is complete, so another attempt would not help.
    throw new ToolOutputError(`A segment cannot be parsed: ${(error as Error).message}`, { cause: error });
  }
}

function readStart(head: Buffer, kind: 'video' | 'audio'): Pick<SegmentInfo, 'codecs' | 'start'> {
  const stream = elementaryStream(head);
  const start = firstTimestamp(head);
  if (kind === 'audio') return { codecs: aacCodecString(stream), start };
  if (!startsWithIdr(stream)) throw new InvalidSegmentError('A segment does not begin with an IDR picture');
  return { codecs: avcCodecString(stream), start };
}

async function readEnd(
  segment: OutputFile,
  { kind, isPassthrough }: { kind: 'video' | 'audio'; isPassthrough: boolean },
): Promise<Omit<SegmentInfo, 'codecs' | 'start'>> {
  const configuration = isPassthrough ? configurationOf(kind) : null;
  const end = new StreamEnd(kind, configuration);
  try {
    for await (const chunk of readFrom(segment)) end.push(chunk as Buffer);
    const { pesPackets } = end;
    return { last: end.seconds(), pesPackets, configuration: onlyOne(configuration) };
  } catch (error) {
    if (error instanceof InvalidSegmentError) throw error;
    const what = `A segment is truncated: ${(error as Error).message}`;
    const mayBeInSource = isPassthrough && error instanceof IncompleteFrameError;
    throw mayBeInSource ? new InvalidSegmentError(what) : incompleteOutput(what);
  }
}

function configurationOf(kind: 'video' | 'audio'): StreamConfiguration {
  return kind === 'video' ? new ParameterSets() : new AdtsHeaders();
}

function onlyOne(configuration: StreamConfiguration | null): string | null {
  const [first = null, ...others] = configuration?.found ?? [];
  if (others.length > 0)
    throw new InvalidSegmentError('A segment changes its parameter sets or ADTS headers');
  return first;
}

/** The probe found packets in the track, so the decoder rejected all of them. */
function emptyTrack(rendition: RenditionName): TranscodeFailure {
  const cause = new EmptyRenditionError(rendition);
  const message = `No frame of the ${isAudioRendition(rendition) ? 'audio' : 'video'} track can be decoded. Export the video again and upload that.`;
  return refusal('malformed_media', message, cause);
}
