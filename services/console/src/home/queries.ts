import { unwrap, type Video } from '@framelane/client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/api.ts';
import { pollInterval, videoPollInterval } from '../api/live.ts';
import { useSession } from '../sign-in/session.ts';
import { twoWeeksAgo } from './week.ts';

/** Of how many videos, the newest ones, the home page says what happened to them. */
const NEWEST = 50;

type Status = Video['status'];

/** The newest videos, which are polled. */
export function useNewestVideos() {
  return useVideos('newest', NEWEST);
}

/** Videos that are processed or imported, which are polled. Also those that wait for a file. */
export function useUnfinishedVideos() {
  return useVideos('unfinished', NEWEST, ['uploading', 'processing']);
}

/** The newest failed videos, which are polled. */
export function useFailedVideos() {
  return useVideos('failed', NEWEST, ['failed']);
}

function useVideos(name: string, limit: number, status?: Status[]) {
  const { environment } = useSession();
  const query = { environment, limit, ...(status && { status }) };
  return useQuery({
    queryKey: ['videos', 'home', name, environment],
    queryFn: ({ signal }) => unwrap(api.GET('/videos', { params: { query }, signal })),
    refetchInterval: ({ state }) => videoPollInterval(state.data?.data ?? []),
  });
}

/** What was watched in the last two weeks, by day. */
export function useWatched() {
  const { environment, can } = useSession();
  const from = twoWeeksAgo(Date.now());
  return useQuery({
    queryKey: ['analytics', 'home', environment, from],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/analytics', { params: { query: { from, environment, groupBy: 'day' } }, signal })),
    enabled: can('analytics:read'),
    refetchInterval: pollInterval(false),
  });
}

/** The quotas of the workspace. */
export function useLimits() {
  const { can } = useSession();
  return useQuery({
    queryKey: ['usage', 'home'],
    queryFn: async ({ signal }) => (await api.account.usage({}, { signal })).limits,
    enabled: can('usage:read'),
    refetchInterval: pollInterval(false),
  });
}
