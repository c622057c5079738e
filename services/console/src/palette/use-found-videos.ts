import { unwrap, type Video } from '@framelane/client';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../api/api.ts';
import { isGone } from '../api/problem.ts';
import { useSession } from '../sign-in/session.ts';
import { videoIdIn, withWords } from './palette-items.ts';

/** Milliseconds without another key before a search begins. */
const TYPING_MS = 150;

/** How many videos the palette offers. */
const LIMIT = 6;

/**
 * The videos with a text in their title, or the one whose id it is. Until they have arrived, `isSettled` is false, and those of the text before stay
 * as far as they have the words of this one.
 */
export function useFoundVideos(text: string): {
  videos: readonly Video[];
  isSettled: boolean;
  error: unknown;
} {
  const { environment, can } = useSession();
  const [typed] = useDebouncedValue(text.trim(), TYPING_MS);
  const enabled = typed !== '' && can('videos:read');
  const { data, error, isPending, isPlaceholderData } = useQuery({
    queryKey: ['videos', 'palette', environment, typed],
    queryFn: ({ signal }) => findVideos(typed, environment, signal),
    enabled,
    placeholderData: keepPreviousData,
  });
  const isSettled = typed === text.trim() && !isPlaceholderData && !(enabled && isPending);
  const found = (text.trim() !== '' && enabled && data) || [];
  return {
    videos: isSettled ? found : withWords(found, text, ({ title }) => title),
    isSettled,
    error: enabled ? error : null,
  };
}

async function findVideos(
  text: string,
  environment: Video['environment'],
  signal: AbortSignal,
): Promise<readonly Video[]> {
  const id = videoIdIn(text);
  if (id === undefined) {
    const query = { q: text, environment, limit: LIMIT };
    return (await unwrap(api.GET('/videos', { params: { query }, signal }))).data;
  }
  try {
    return [await api.videos.get(id, { signal })];
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}
