/** The progress of a video at a time. `time` is in milliseconds. */
export type Sample = { time: number; percent: number };

/** The speed is measured over this long. */
const SPEED_MS = 30_000;

/** The samples after another one, of as long as the speed is measured over. A lower percentage begins anew: the video is transcoded again. */
export function withSample(samples: readonly Sample[], next: Sample): Sample[] {
  const last = samples.at(-1);
  if (last !== undefined && next.percent < last.percent) return [next];
  return [...samples.filter(({ time }) => next.time - time <= SPEED_MS), next];
}

/**
 * Seconds until a position of the video is transcoded, by the speed of the last half minute: 0 if it should be there, undefined if that cannot be told. A video
 * is transcoded from its beginning to its end, so the percentage is also how far it has come; several engines make this less exact.
 */
export function secondsUntil(
  position: number,
  duration: number,
  samples: readonly Sample[],
): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || !(duration > 0)) return undefined;
  const missing = (position / duration) * 100 - last.percent;
  if (missing < 0) return 0;
  const speed = ((last.percent - first.percent) / (last.time - first.time)) * 1000;
  return speed > 0 ? missing / speed : undefined;
}

/** What a viewer reads who waits for a part of a video that is being prepared. */
export function waitWords(seconds: number | undefined): string {
  if (seconds === undefined) return 'This part is not ready yet.';
  if (seconds < 10) return 'This part is ready in a few seconds.';
  if (seconds < 90) return `This part is ready in about ${Math.ceil(seconds / 10) * 10} seconds.`;
  return `This part is ready in about ${Math.round(seconds / 60)} minutes.`;
}
