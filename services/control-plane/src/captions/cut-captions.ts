import type { Cue } from '@framelane/captions/captions';

/** The cues that are shown between two times of a video, as a clip between these times shows them. All times are in milliseconds. */
export function cutCues(cues: readonly Cue[], { from, to }: { from: number; to: number }): Cue[] {
  return cues
    .filter(({ start, end }) => end > from && start < to)
    .map((cue) => ({ ...cue, start: Math.max(cue.start, from) - from, end: Math.min(cue.end, to) - from }));
}
