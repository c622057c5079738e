import { type RefObject, useEffect, useRef } from 'react';

/** Where somebody left the list: the row and the scroll position. */
type Place = { row: string; top: number };

/** Stores in the history that somebody leaves the list at a row, so that "Back" leads there. */
export function leaveAt(row: string): void {
  const place: Place = { row, top: scrollY };
  history.replaceState({ ...history.state, place }, '');
}

/** The id of the link of a row. */
export function rowId(videoId: string): string {
  return `row-${videoId}`;
}

/** The id of the video of a link of a row; undefined for the line of a group. */
export function videoOfRow(link: HTMLElement | undefined): string | undefined {
  return link?.id.startsWith('row-') ? link.id.slice('row-'.length) : undefined;
}

/**
 * Goes to where somebody left the list when it is shown again. When another page of the list is shown, goes to its beginning. `key` is the
 * address of what is shown; undefined until something is.
 */
export function usePlace(key: string | undefined, list: RefObject<HTMLElement | null>): void {
  const shown = useRef<string>(undefined);
  useEffect(() => {
    if (key === undefined || key === shown.current) return;
    const isFirst = shown.current === undefined;
    shown.current = key;
    const place: Place | undefined = history.state?.place;
    if (place !== undefined) {
      // After the heading of the page, which takes the focus when the page is opened.
      requestAnimationFrame(() => {
        document.getElementById(rowId(place.row))?.focus({ preventScroll: true });
        scrollTo(0, place.top);
      });
    } else if (!isFirst && !document.activeElement?.closest('.filters')) {
      // The list is higher than the window, so the browser would not scroll to its beginning by itself.
      list.current?.focus({ preventScroll: true });
      list.current?.scrollIntoView();
    }
  }, [key, list]);
}
