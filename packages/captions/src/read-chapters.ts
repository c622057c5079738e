import { CaptionsError, type Cue } from './captions.ts';
import { readCaptions } from './read-captions.ts';
import { timestamp } from './write-webvtt.ts';

/** The most chapters of a file, and the most characters of a title. */
export type ChapterLimits = { chapters: number; titleLength: number };

/**
 * Reads the chapters of a WebVTT file: the start, in milliseconds, and the text of each cue, without tags. They are sorted by their start. Throws
 * a CaptionsError as `readCaptions` does, for two chapters that begin together, and beyond the limits. `duration` is that of the video in seconds; null if it is not known.
 */
export function readChapters(
  bytes: Uint8Array,
  duration: number | null,
  limits: ChapterLimits,
): { start: number; title: string }[] {
  const cues = readCaptions(bytes, 'webvtt', duration);
  if (cues.length > limits.chapters) {
    throw new CaptionsError(null, `it has ${cues.length} chapters, and a video can have ${limits.chapters}`);
  }
  const chapters = cues.map((cue) => ({ start: cue.start, title: titleOf(cue) }));
  for (const [at, { start, title }] of chapters.entries()) {
    if (start === chapters[at - 1]?.start) {
      throw new CaptionsError(
        null,
        `two chapters begin at ${timestamp(start)}`,
        'Each needs a start of its own.',
      );
    }
    if ([...title].length > limits.titleLength) {
      const flaw = `the title at ${timestamp(start)} has more than ${limits.titleLength} characters`;
      throw new CaptionsError(null, flaw);
    }
  }
  return chapters;
}

const REFERENCES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };

/** Tags of `readCaptions`, and the references that it writes. */
const MARKUP = /<[^<>]*>|&(?:amp|lt|gt);/g;

/** The text of a cue on one line. Bidirectional formatting characters would reverse the text around the title. */
function titleOf({ text }: Cue): string {
  const plain = text.replaceAll(MARKUP, (found) => REFERENCES[found] ?? '');
  return plain.replaceAll(/[\s\p{Bidi_Control}]+/gu, ' ').trim();
}
