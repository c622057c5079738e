/** How many videos a page of the list has: the default of the API. */
export const PAGE_SIZE = 25;

export type Range = {
  /** How many videos are shown. */
  count: number;
  /** How many pages somebody went forward. */
  depth: number;
  hasBefore: boolean;
  hasAfter: boolean;
};

/**
 * Which videos of the list are shown, such as `26–50`; with their total on the last page. Without their place for a page that somebody opened by its
 * address: a cursor does not say how many are before it.
 */
export function rangeWords({ count, depth, hasBefore, hasAfter }: Range): string {
  const videos = count === 1 ? '1 video' : `${count} videos`;
  if (!hasBefore && !hasAfter) return videos;
  if (hasBefore && depth === 0) return videos;
  const first = depth * PAGE_SIZE + 1;
  const last = first + count - 1;
  const range = first === last ? `${last}` : `${first}–${last}`;
  return hasAfter ? range : `${range} of ${last}`;
}
