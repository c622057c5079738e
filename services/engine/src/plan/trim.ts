import { windowOf } from '@framelane/contracts/clip-plan';
import { isShorter } from '@framelane/contracts/shortest-duration';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import type { Trim } from '@framelane/contracts/trim';
import { toNumber } from '../source/frame-rate.ts';
import { refusal } from '../transcode-failure.ts';

/** The video that a whole source would become. */
type Whole = Pick<EncodePlan, 'lead' | 'frameRate' | 'frames' | 'videoRenditions'>;

/** The part of a source that a plan makes. */
export type Part = Pick<EncodePlan, 'lead' | 'firstFrame' | 'frames' | 'duration'> & {
  /** Whether frames of the source are cut off. */
  isTrimmed: boolean;
  /** Seconds of the whole source, if the trim would end later; null otherwise. */
  endsAt: number | null;
};

/** The part of a source that a trim leaves; without one, all of it. Throws a refusal if the source ends before the part begins. */
export function partOf(whole: Whole, trim: Trim | undefined): Part {
  const rate = toNumber(whole.frameRate);
  const { firstFrame, frames, isLate } = trim
    ? trimmed(whole, trim)
    : { ...whole, firstFrame: 0, isLate: false };
  return {
    // Decimals that are enough for the frame to be found again (see `gridLead`).
    lead: Number((whole.lead + firstFrame / rate).toFixed(9)),
    firstFrame,
    frames,
    duration: frames / rate,
    isTrimmed: frames < whole.frames,
    endsAt: isLate ? whole.frames / rate : null,
  };
}

/** The frames of a trim, to its end or to that of the source. */
function trimmed(whole: Whole, { start, end }: Trim) {
  const seconds = whole.frames / toNumber(whole.frameRate);
  if (isShorter(seconds - start)) {
    throw refusal(
      'trim_after_end',
      `The video lasts ${seconds.toFixed(3)} seconds, and the trim begins at second ${start}. Upload the video again with an earlier start.`,
    );
  }
  const { firstFrame, frames } = windowOf({ encode: whole }, { start, end: end ?? seconds });
  const left = whole.frames - firstFrame;
  return { firstFrame, frames: Math.min(frames, left), isLate: frames > left };
}

/** Seconds to subtract from timestamps so that the frames of the whole source are on the grid of the output. */
export function gridLead({ lead, firstFrame, frameRate }: EncodePlan): number {
  return Number((lead - firstFrame / toNumber(frameRate)).toFixed(6));
}

/** Seconds of the source that a run from the beginning of the plan reads before the first frame of the output. */
export function skippedSeconds({ lead, firstFrame, reading }: EncodePlan): number {
  return firstFrame === 0 ? 0 : Math.max(0, lead - (reading?.seek ?? 0));
}
