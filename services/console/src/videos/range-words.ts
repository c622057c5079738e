/** How many videos a page of the list has: the default of the API. */
export const PAGE_SIZE = 25;

type Total = { count: number; exact: boolean };

export type Range = {
  /** How many videos are shown. */
  count: number;
  /** How many pages somebody went forward. */
  depth: number;
  hasBefore: boolean;
  hasAfter: boolean;
  /** Of all pages; undefined until it is known. */
  total: Total | undefined;
};

/**
 * Which videos of the list are shown, such as `26–50 of 323`. Without their place for a page that somebody opened by its address: a cursor does
 * not say how many are before it.
 */
export function rangeWords({ count, depth, hasBefore, hasAfter, total }: Range): string {
  if (!hasBefore && !hasAfter) return videosOf(count);
  if (hasBefore && depth === 0)
    return total === undefined ? videosOf(count) : `${count} of ${numberOf(total)}`;
  const first = depth * PAGE_SIZE + 1;
  const last = first + count - 1;
  const range = first === last ? `${last}` : `${first}–${last}`;
  if (!hasAfter) return `${range} of ${last.toLocaleString()}`;
  // A count of a part of the list can be smaller than what is shown.
  return total === undefined || total.count <= last ? range : `${range} of ${numberOf(total)}`;
}

/** E.g. `323`, or `10,000+`. */
export function numberOf({ count, exact }: Total): string {
  return `${count.toLocaleString()}${exact ? '' : '+'}`;
}

function videosOf(count: number): string {
  return count === 1 ? '1 video' : `${count} videos`;
}
