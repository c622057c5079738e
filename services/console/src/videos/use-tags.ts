import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../api/api.ts';
import { useSession } from '../sign-in/session.ts';

/** Milliseconds without another key before a search begins. */
const TYPING_MS = 300;

/** The most tags of a response. */
const LISTED_TAGS = 100;

/** The longest tag. */
const TAG_LENGTH = 64;

const NO_TAGS: readonly string[] = [];

/**
 * The tags in use, the most used first; none until they are known. If there are more than a response has, those that contain the typed text
 * as soon as they have arrived.
 */
export function useTags(typed: string): readonly string[] {
  const [settled] = useDebouncedValue(typed.trim().slice(0, TAG_LENGTH), TYPING_MS);
  const all = useTagsWith('', true);
  const isCut = all !== undefined && all.length >= LISTED_TAGS;
  const found = useTagsWith(settled, isCut && settled !== '');
  return found ?? all ?? NO_TAGS;
}

function useTagsWith(q: string, enabled: boolean): readonly string[] | undefined {
  const { environment } = useSession();
  const { data } = useQuery({
    queryKey: ['videos', 'tags', environment, q],
    queryFn: ({ signal }) => api.videos.listTags({ environment, ...(q && { q }) }, { signal }),
    select: (tags) => tags.map(({ tag }) => tag),
    staleTime: 60_000,
    // The tags for the text so far, of which only those that still fit are suggested.
    placeholderData: keepPreviousData,
    enabled,
  });
  return enabled ? data : undefined;
}
