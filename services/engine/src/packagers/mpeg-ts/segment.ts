import type { Readable } from 'node:stream';
import {
  type ElementaryReader,
  IncompleteUnitError,
  type StreamConfiguration,
} from '../../encoders/stream-reader.ts';
import { type OutputFile, readFrom, ToolOutputError } from '../../sandbox/tool-output.ts';
import { incompleteOutput } from '../../transcode-failure.ts';
import { type IFrame, InvalidSegmentError, type SegmentInfo } from '../packager.ts';
import {
  elementaryStream,
  firstTimestamp,
  isTransportStream,
  KeyFrames,
  PACKET_BYTES,
  StreamEnd,
} from './transport-stream.ts';

/** Enough packets for the parameter sets and the beginning of the first frame. */
const HEAD_BYTES = PACKET_BYTES * 100;

/** See Packager. */
export async function readSegment(
  segment: OutputFile,
  reader: ElementaryReader,
  { isCopy }: { isCopy: boolean },
): Promise<SegmentInfo> {
  const { handle, bytes } = segment;
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const head = buffer.subarray(0, bytesRead);
  if (!isTransportStream(head)) throw new ToolOutputError('A segment is not a transport stream');
  if (bytes % PACKET_BYTES !== 0) throw incompleteOutput('The last packet of a segment is truncated');
  const end = await readEnd(segment, reader, isCopy);
  try {
    return { ...readStart(head, reader), ...end };
  } catch (error) {
    if (error instanceof InvalidSegmentError) throw error;
    // The segment is complete, so another try would not help.
    throw new ToolOutputError(`A segment cannot be parsed: ${(error as Error).message}`, { cause: error });
  }
}

function readStart(head: Buffer, reader: ElementaryReader): Pick<SegmentInfo, 'codecs' | 'start'> {
  const stream = elementaryStream(head);
  const start = firstTimestamp(head);
  if (!reader.isDecodable(stream)) {
    throw new InvalidSegmentError('Decoding cannot start at the beginning of a segment');
  }
  return { codecs: reader.codecString(stream), start };
}

async function readEnd(
  segment: OutputFile,
  reader: ElementaryReader,
  isCopy: boolean,
): Promise<Omit<SegmentInfo, 'codecs' | 'start'>> {
  const configuration = isCopy ? reader.configuration() : null;
  const end = new StreamEnd(reader, configuration);
  try {
    for await (const chunk of readFrom(segment)) end.push(chunk as Buffer);
    return {
      last: end.seconds(),
      units: end.pesPackets,
      configuration: onlyOne(configuration),
      initialization: null,
    };
  } catch (error) {
    if (error instanceof InvalidSegmentError) throw error;
    const what = `A segment is truncated: ${(error as Error).message}`;
    const mayBeInSource = isCopy && error instanceof IncompleteUnitError;
    throw mayBeInSource ? new InvalidSegmentError(what) : incompleteOutput(what);
  }
}

function onlyOne(configuration: StreamConfiguration | null): string | null {
  const [first = null, ...others] = configuration?.found ?? [];
  if (others.length > 0)
    throw new InvalidSegmentError('A segment changes its parameter sets or ADTS headers');
  return first;
}

/** See Packager. */
export async function readIFrames(
  chunks: Readable,
  reader: ElementaryReader,
  minSeconds: number,
): Promise<readonly IFrame[]> {
  const frames = new KeyFrames(minSeconds);
  for await (const chunk of chunks) frames.push(chunk as Buffer);
  return frames.end().flatMap(({ start, stream }) => {
    const elementary = elementaryStream(stream);
    return reader.isDecodable(elementary)
      ? [{ start, codecs: reader.codecString(elementary), segment: stream }]
      : [];
  });
}
