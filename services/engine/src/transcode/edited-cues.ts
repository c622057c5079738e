import { type Cue, MAX_CUES } from '@framelane/captions/captions';
import type { ShownPart } from '../source/edit-lists.ts';

/** More edits than any player's trim makes. Each takes time for each cue. */
const MAX_TEXT_EDITS = 32;

/** The cues of a text track with an edit list, with times of the source instead of those of the track; or why they have none. */
export function editedCues(
  cues: readonly Cue[],
  shown: readonly ShownPart[],
): { cues: Cue[]; flaw?: undefined } | { cues?: undefined; flaw: string } {
  if (shown.length > MAX_TEXT_EDITS) return { flaw: `its edit list has more than ${MAX_TEXT_EDITS} parts` };
  const parts: Cue[] = [];
  for (const { at, from, lasts } of shown) {
    const begin = toMilliseconds(from);
    const end = toMilliseconds(from + lasts);
    const shift = toMilliseconds(at - from);
    for (const cue of cues) {
      if (cue.end <= begin || cue.start >= end) continue;
      parts.push({ ...cue, start: Math.max(begin, cue.start) + shift, end: Math.min(end, cue.end) + shift });
    }
    if (parts.length > MAX_CUES) return { flaw: `its edit list shows more than ${MAX_CUES} cues` };
  }
  if (parts.length === 0) return { flaw: 'it has no cue with text and a duration' };
  return { cues: parts.toSorted((a, b) => a.start - b.start) };
}

function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}
