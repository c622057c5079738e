import { CaptionsError } from '@framelane/captions/captions';
import { type CaptionsFormat, readCaptions } from '@framelane/captions/read-captions';
import { readChapters as readFile } from '@framelane/captions/read-chapters';
import { webVttFile } from '@framelane/captions/write-webvtt';
import { MAX_CHAPTER_TITLE, MAX_CHAPTERS } from '@framelane/contracts/manifest';
import { cutCues } from './cut-captions.ts';
import { type StoredCues, storedCues } from './stored-cues.ts';

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

/** The captions of a clip, from the cues of its parent as blocks of WebVTT, in a thread. Null if none is shown in it. */
export function cut({ blocks, from, to }: { blocks: string; from: number; to: number }): StoredCues | null {
  const file = Buffer.from(webVttFile([blocks]));
  const cues = cutCues(readCaptions(file, 'webvtt'), { from, to });
  return cues.length === 0 ? null : storedCues(cues);
}

/** Chapters with starts in milliseconds, or the error in their file. */
export type ReadChapters =
  | { chapters: { start: number; title: string }[]; error?: undefined }
  | { chapters?: undefined; error: { message: string; line: number | null } };

/** Reads a WebVTT file with chapters. The largest takes about 100 ms, so this runs in a thread. */
export function readChapters(request: { file: Uint8Array; duration: number | null }): ReadChapters {
  const { file, duration } = request;
  try {
    const limits = { chapters: MAX_CHAPTERS, titleLength: MAX_CHAPTER_TITLE };
    return { chapters: readFile(Buffer.from(file), duration, limits) };
  } catch (error) {
    if (!(error instanceof CaptionsError)) throw error;
    return { error: { message: error.message, line: error.line } };
  }
}
