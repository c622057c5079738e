import { CaptionsError } from '@framelane/captions/captions';
import { type CaptionsFormat, readCaptions } from '@framelane/captions/read-captions';
import { readChapters } from '../chapters/read-chapters.ts';
import { type StoredCues, storedCues } from './stored-cues.ts';

export { readChapters };

/** The cues of a file, or the error in it. */
export type ReadResult =
  | { cues: StoredCues; error?: undefined }
  | { cues?: undefined; error: { message: string; line: number | null } };

/** Reads a file with captions, as `readCaptions` does. Runs in a thread, which would lose the class of the error. */
export function read(request: {
  file: Uint8Array | string;
  format: CaptionsFormat;
  duration: number | null;
}): ReadResult {
  const { file, format, duration } = request;
  try {
    return { cues: storedCues(readCaptions(Buffer.from(file), format, duration)) };
  } catch (error) {
    if (!(error instanceof CaptionsError)) throw error;
    return { error: { message: error.message, line: error.line } };
  }
}
