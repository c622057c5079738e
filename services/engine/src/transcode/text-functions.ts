import { CaptionsError, type Cue } from '@framelane/captions/captions';
import { readCaptions } from '@framelane/captions/read-captions';
import { cueBlock, webVttFile } from '@framelane/captions/write-webvtt';
import type { ShownPart } from '../source/edit-lists.ts';
import { editedCues } from './edited-cues.ts';

/** A text track as SubRip. With `shown`, its times are those of the track, and these are the parts that its edit list shows. */
export type TextFile = { file: Uint8Array; shown?: readonly ShownPart[] | undefined };

/** The size of the cues of a track as WebVTT, or why it has none. Runs in a thread, which would lose the class of the error. */
export function measure(
  text: TextFile,
): { bytes: number; flaw?: undefined } | { bytes?: undefined; flaw: string } {
  const { cues, flaw } = cuesOf(text);
  if (flaw !== undefined) return { flaw };
  return { bytes: cues.reduce((sum, cue) => sum + Buffer.byteLength(cueBlock(cue)), 0) };
}

/** A track as WebVTT. All cues are shown `shift` earlier, and those outside of the video are left out; null if no cue remains. */
export function convert(
  text: TextFile & {
    /** Milliseconds. */
    shift: number;
    /** Milliseconds of the video. */
    duration: number;
  },
): string | null {
  const { shift, duration } = text;
  const shown = (cuesOf(text).cues ?? [])
    .map((cue) => ({
      ...cue,
      start: Math.max(0, cue.start - shift),
      end: Math.min(cue.end - shift, duration),
    }))
    .filter(({ start, end }) => end > start && start < duration);
  return shown.length === 0 ? null : webVttFile(shown.map(cueBlock));
}

function cuesOf({
  file,
  shown,
}: TextFile): { cues: Cue[]; flaw?: undefined } | { cues?: undefined; flaw: string } {
  try {
    const cues = readCaptions(file, 'subrip');
    return shown === undefined ? { cues } : editedCues(cues, shown);
  } catch (error) {
    if (!(error instanceof CaptionsError)) throw error;
    return { flaw: error.flaw };
  }
}
