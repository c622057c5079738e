import type { Video } from '@framelane/client';
import { useState } from 'react';

const NOTHING: ReadonlySet<string> = new Set();

type State = {
  /** The page of the list that the selection belongs to. */
  key: string;
  ids: ReadonlySet<string>;
  /** The videos of all pages, if somebody chose from them. */
  all?: readonly Video[];
};

export type Selection = {
  /** In the order of the list. */
  selected: readonly Video[];
  has: (id: string) => boolean;
  /** Selects these of the selectable videos and no others. */
  select: (ids: Iterable<string>) => void;
  /** Selects all of these, also those that the page does not show. */
  selectAll: (videos: readonly Video[]) => void;
  toggle: (ids: readonly string[]) => void;
};

/** The selected videos. Another page begins without any, so that nobody changes videos that they have not seen or asked for. */
export function useSelection(key: string, videos: readonly Video[]): Selection {
  const [state, setState] = useState<State>({ key, ids: NOTHING });
  const { ids, all = videos }: Omit<State, 'key'> = state.key === key ? state : { ids: NOTHING };
  // The page has newer records, and videos that have arrived since.
  const known = new Map([...all, ...videos].map((video) => [video.id, video]));
  const selected = [...known.values()].filter(({ id }) => ids.has(id));
  const select = (chosen: Iterable<string>) =>
    setState({ key, ids: new Set(chosen), ...(all !== videos && { all }) });
  return {
    selected,
    has: (id) => ids.has(id),
    select,
    selectAll: (chosen) => setState({ key, ids: new Set(chosen.map(({ id }) => id)), all: chosen }),
    toggle: (toggled) => {
      const before = new Set(ids);
      const isEvery = toggled.every((id) => before.has(id));
      for (const id of toggled) isEvery ? before.delete(id) : before.add(id);
      select(before);
    },
  };
}
