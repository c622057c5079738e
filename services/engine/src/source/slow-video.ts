import type { Timeline } from './packet-timeline.ts';

/** Video with fewer frames a second is slow: slides, or a still picture. */
const SLOW_RATE = 1;

/** Whether a video is slow. The rate of a single frame says nothing. */
export function isSlow({ frames, averageRate }: Pick<Timeline, 'frames' | 'averageRate'>): boolean {
  return frames === 1 || averageRate < SLOW_RATE;
}

/**
 * The timeline of slow video beside sound that goes on after it: its last frame is shown until the sound ends. Programs give that frame any
 * duration, often that of the others, or none.
 *
 * @param soundEnd seconds from the earliest timestamp of the file; -Infinity without sound
 */
export function heldUntil(timeline: Timeline, soundEnd: number): Timeline {
  if (!isSlow(timeline) || !(soundEnd > timeline.duration)) return timeline;
  const { frames, start } = timeline;
  return { ...timeline, duration: soundEnd, averageRate: frames / (soundEnd - start) };
}
