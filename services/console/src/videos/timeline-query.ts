import type { Video } from '@framelane/client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/api.ts';
import { pollAfter } from '../api/live.ts';

/** The timeline of a video, live. It is loaded again when the record has changed, and while an attempt can begin or end. */
export function useTimeline(video: Video) {
  const isFinal = video.status === 'ready' || video.status === 'failed';
  return useQuery({
    queryKey: ['videos', 'timeline', video.id, video.updatedAt],
    queryFn: ({ signal }) => api.videos.timeline(video.id, { signal }),
    placeholderData: (previous) => previous,
    refetchInterval: isFinal ? false : pollAfter([video]),
  });
}
