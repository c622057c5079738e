import { buffer } from 'node:stream/consumers';
import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import type { TrackRendition } from '@framelane/contracts/renditions';
import { readerOf } from '../../encoders/encoders.ts';
import { InvalidSegmentError, type Packager, type SegmentReader } from '../../packagers/packager.ts';
import { readFrom, type ToolOutput, ToolOutputError } from '../../sandbox/tool-output.ts';
import { incompleteOutput } from '../../transcode-failure.ts';

/** The initialization section of a rendition as results have it. */
export function initializationFact({
  initialization,
}: Pick<SegmentReader, 'initialization'>): Pick<StoredRendition, 'initialization'> {
  return initialization === null ? {} : { initialization };
}

/** Several times what ffmpeg writes for what it encodes. The parameter sets of a source can have more. */
const MAX_INITIALIZATION_BYTES = 4096;
/** More than the record of a decoder configuration has with parameter sets of usual sizes. */
const MAX_FILE_BYTES = 1024 ** 2;

/**
 * The initialization section that a run has written with its segments; null if the packaging has none. Call it when a segment exists. Throws a
 * ToolOutputError if it is missing, and a retryable failure if it is empty.
 */
export async function readInitializationFile(
  output: ToolOutput,
  name: string,
  { hasInitialization }: Packager,
): Promise<Buffer | null> {
  if (!hasInitialization) return null;
  const file = await output.file(name, MAX_FILE_BYTES);
  if (file === null) throw new ToolOutputError(`${name} is missing`);
  try {
    if (file.bytes === 0) throw incompleteOutput(`${name} is empty`);
    return await buffer(readFrom(file));
  } finally {
    await file.handle.close();
  }
}

/**
 * The reader of the segments that a run writes. Throws if their initialization section cannot be parsed or is too large: an InvalidSegmentError for a
 * stream copy, whose source may have no parameter sets outside of its frames, or too many; else a ToolOutputError.
 */
export function openOutput(
  rendition: TrackRendition,
  packager: Packager,
  initialization: Buffer | null,
  { isCopy }: { isCopy: boolean },
): SegmentReader {
  try {
    if ((initialization?.length ?? 0) > MAX_INITIALIZATION_BYTES)
      throw new Error('The initialization section is too large');
    return packager.open(readerOf(rendition), initialization);
  } catch (error) {
    const what = `The segments of ${rendition} cannot be read: ${(error as Error).message}`;
    throw isCopy
      ? new InvalidSegmentError(what, { cause: error })
      : new ToolOutputError(what, { cause: error });
  }
}
