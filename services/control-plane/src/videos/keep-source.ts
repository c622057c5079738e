import type { components } from '@framelane/openapi/types';

/** How long the source of a video is kept, as clients write it. */
export type KeepSource = components['schemas']['KeepSource'];

/**
 * The source of a failed video is kept for at least this many days, so that the video can be retried. An outage of the
 * transcoder may last a whole weekend.
 */
export const FAILED_SOURCE_DAYS = 7;

/** As stored: null for always, 0 for never, otherwise days. */
export function toDays(keep: KeepSource): number | null {
  if (keep === 'always') return null;
  return keep === 'never' ? 0 : keep;
}

/** The inverse of `toDays`. */
export function fromDays(days: number | null): KeepSource {
  if (days === null) return 'always';
  return days === 0 ? 'never' : days;
}
