import { CaptionsError, type Cue } from '@framelane/captions/captions';
import { readCaptions } from '@framelane/captions/read-captions';
import { timestamp } from '@framelane/captions/write-webvtt';
import { MAX_CHAPTER_TITLE, MAX_CHAPTERS } from '@framelane/contracts/manifest';
import type { Chapter } from './timed-chapters.ts';

/** The chapters of a file, or the error in it. */
export type ReadChapters =
  | { chapters: Chapter[]; error?: undefined }
  | { chapters?: undefined; error: { message: string; line: number | null } };

/**
 * Reads the chapters of a WebVTT file: the start and the text of each cue, without tags. The largest file takes about
 * 100 ms, so this runs in a thread, which would lose the class of the error. `duration` is that of the video in seconds; null if it is not known.
 */
export function readChapters({
  file,
  duration,
}: {
  file: Uint8Array;
  duration: number | null;
}): ReadChapters {
  try {
    const cues = readCaptions(Buffer.from(file), 'webvtt', duration);
    const flaw = flawOf(cues);
    if (flaw !== undefined) return { error: { message: flaw, line: null } };
    return { chapters: cues.map((cue) => ({ start: cue.start, title: titleOf(cue) })) };
  } catch (error) {
    if (!(error instanceof CaptionsError)) throw error;
    return { error: { message: error.message, line: error.line } };
  }
}

function flawOf(cues: readonly Cue[]): string | undefined {
  if (cues.length > MAX_CHAPTERS) {
    return `The file has ${cues.length} chapters. A video can have at most ${MAX_CHAPTERS}.`;
  }
  const twin = cues.find(({ start }, at) => start === cues[at - 1]?.start);
  if (twin !== undefined) {
    return `Two chapters begin at ${timestamp(twin.start)}. Each must have a start of its own.`;
  }
  const long = cues.find((cue) => [...titleOf(cue)].length > MAX_CHAPTER_TITLE);
  return (
    long &&
    `The title of the chapter at ${timestamp(long.start)} has more than ${MAX_CHAPTER_TITLE} characters.`
  );
}

const REFERENCES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };

/** Tags of `readCaptions`, and the references that it writes. */
const MARKUP = /<[^<>]*>|&(?:amp|lt|gt);/g;

/** The text of a cue on one line. Bidirectional formatting characters would reverse the text around the title. */
function titleOf({ text }: Cue): string {
  const plain = text.replaceAll(MARKUP, (found) => REFERENCES[found] ?? '');
  return plain.replaceAll(/[\s\p{Bidi_Control}]+/gu, ' ').trim();
}
