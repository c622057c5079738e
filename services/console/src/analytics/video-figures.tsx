import { useQuery } from '@tanstack/react-query';
import { api } from '../api/api.ts';
import { useSession } from '../sign-in/session.ts';
import { Figures } from './figures.tsx';
import { NotPermitted, NoViews } from './no-views.tsx';
import type { Period } from './period.ts';
import { Retention } from './retention.tsx';

type VideoFiguresProps = { videoId: string; period: Period; onPeriod: (period: Period) => void };

/** What is watched of one video, and where viewers leave it. */
export function VideoFigures(props: VideoFiguresProps) {
  const { can } = useSession();
  return can('analytics:read') ? <PermittedFigures {...props} /> : <NotPermitted />;
}

function PermittedFigures({ videoId, period, onPeriod }: VideoFiguresProps) {
  const { can } = useSession();
  const { data: video } = useQuery({
    // The page of the video has the same key.
    queryKey: ['videos', 'one', videoId],
    queryFn: ({ signal }) => api.videos.get(videoId, { signal }),
    enabled: can('videos:read'),
  });
  return (
    <Figures
      of={['analytics', 'video', videoId]}
      load={(query, signal) => api.analytics.getVideo(videoId, query, { signal })}
      period={period}
      onPeriod={onPeriod}
      empty={<NoViews embed={video?.embed ?? null} />}
      more={({ retention = [] }) => (
        <Retention
          retention={retention}
          duration={video?.duration ?? null}
          storyboard={video?.storyboard ?? null}
        />
      )}
    />
  );
}
