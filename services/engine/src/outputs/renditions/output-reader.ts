import { buffer } from 'node:stream/consumers';
import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import type { TrackRendition } from '@framelane/contracts/renditions';
import { readerOf } from '../../encoders/encoders.ts';
import type { Packager, SegmentReader } from '../../packagers/packager.ts';
import { readFrom, type ToolOutput, ToolOutputError } from '../../sandbox/tool-output.ts';

/** The initialization section of a rendition as results have it. */
export function initializationFact({
  initialization,
}: Pick<SegmentReader, 'initialization'>): Pick<StoredRendition, 'initialization'> {
  return initialization === null ? {} : { initialization };
}

/** Several times what ffmpeg writes. */
const MAX_INITIALIZATION_BYTES = 4096;

/**
 * The initialization section that a run has written with its segments; null if the packaging has none. Call it when a segment exists. Throws a
 * ToolOutputError if it is missing.
 */
export async function readInitializationFile(
  output: ToolOutput,
  name: string,
  { hasInitialization }: Packager,
): Promise<Buffer | null> {
  if (!hasInitialization) return null;
  const file = await output.file(name, MAX_INITIALIZATION_BYTES);
  if (file === null || file.bytes === 0) throw new ToolOutputError(`${name} is missing`);
  try {
    return await buffer(readFrom(file));
  } finally {
    await file.handle.close();
  }
}

/** The reader of the segments that a run writes. Throws a ToolOutputError if their initialization section cannot be parsed. */
export function openOutput(
  rendition: TrackRendition,
  packager: Packager,
  initialization: Buffer | null,
): SegmentReader {
  try {
    return packager.open(readerOf(rendition), initialization);
  } catch (error) {
    throw new ToolOutputError(`The segments of ${rendition} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
