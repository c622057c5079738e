import { type Schemas, unwrap, type Video } from '@framelane/client';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../api/api.ts';
import { videoPollInterval } from '../api/live.ts';
import { isGone } from '../api/problem.ts';
import { useSession } from '../sign-in/session.ts';
import { type ListAddress, toFilter, toQuery } from './list-address.ts';
import type { Timeline } from './timeline-words.ts';
import { renewAfter } from './token-renewal.ts';

/** One page of videos, which is polled. While the next page loads, the one before stays. */
export function useVideoPage(address: ListAddress) {
  const { environment } = useSession();
  const query = { ...toQuery(address), environment };
  return useQuery({
    queryKey: ['videos', 'list', query],
    queryFn: ({ signal }) => unwrap(api.GET('/videos', { params: { query }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => videoPollInterval(state.data?.data ?? []),
  });
}

/** Milliseconds between two counts. They cost more than a page, so they are polled less often. */
const TOTAL_MS = 30_000;

/** How many videos are on all pages; undefined until it is known. */
export function useTotal(address: ListAddress): Schemas['VideoTotal'] | undefined {
  const { environment } = useSession();
  const query = { ...toFilter(address), environment, limit: 1, total: true };
  const { data } = useQuery({
    queryKey: ['videos', 'total', query],
    queryFn: ({ signal }) => unwrap(api.GET('/videos', { params: { query }, signal })),
    refetchInterval: TOTAL_MS,
  });
  return data?.total;
}

/** One video, which is polled. */
export function useVideo(id: string) {
  return useQuery({
    queryKey: ['videos', 'one', id],
    queryFn: ({ signal }) => api.videos.get(id, { signal }),
    refetchInterval: ({ state }) =>
      isGone(state.error) ? false : videoPollInterval(state.data ? [state.data] : []),
  });
}

/** Gets the record of a video again. The promise resolves when the record has arrived. */
export function useRefreshVideo(id: string): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['videos', 'one', id] });
}

/** Returns a function that takes a deleted video out of the loaded lists, so that no page requests its poster, and loads them again. */
export function useForgetVideo(): (id: string) => void {
  const queries = useQueryClient();
  return (id) => {
    for (const kind of ['list', 'home']) {
      const queryKey = ['videos', kind];
      queries.setQueriesData<Schemas['VideoPage']>(
        { queryKey },
        (page) => page && { ...page, data: page.data.filter((video) => video.id !== id) },
      );
      void queries.invalidateQueries({ queryKey });
    }
  };
}

/** The timeline of a video. It is loaded again when the record has changed, and polled while an attempt can begin or end. */
export function useTimeline(video: Video) {
  const isFinal = video.status === 'ready' || video.status === 'failed';
  return useQuery({
    queryKey: ['videos', 'timeline', video.id, video.updatedAt],
    queryFn: async ({ signal }): Promise<Timeline> => ({
      entries: await api.videos.timeline(video.id, { signal }),
      loadedAt: Date.now(),
    }),
    placeholderData: (previous) => previous,
    refetchInterval: isFinal ? false : videoPollInterval([video]),
  });
}

/** The chapters of a video. They are loaded again when the record has changed. */
export function useChapters({ id, updatedAt, chapterCount }: Video) {
  return useQuery({
    queryKey: ['videos', 'chapters', id, updatedAt, chapterCount],
    queryFn: ({ signal }) => api.chapters.get(id, { signal }),
    placeholderData: (previous) => previous,
  });
}

/** Whether a video is ready, or can be played while it is transcoded. */
export function isPlayable({ status, preview }: Video): boolean {
  return status === 'ready' || preview !== null;
}

/**
 * A token for the player of a `signed` video; none for others. A new token replaces it before it expires, also in a hidden tab, where a
 * player continues.
 */
export function usePlaybackToken(video: Video) {
  const { id, playbackPolicy } = video;
  return useQuery({
    queryKey: ['playback-token', id],
    queryFn: ({ signal }) => api.videos.createPlaybackToken(id, {}, { signal }),
    enabled: playbackPolicy === 'signed' && isPlayable(video),
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) => state.data !== undefined && renewAfter(state.data, Date.now()),
    refetchIntervalInBackground: true,
    refetchOnWindowFocus: false,
    gcTime: 0,
  });
}
