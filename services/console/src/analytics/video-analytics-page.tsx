import { Anchor, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useSearch } from 'wouter';
import { api } from '../api/api.ts';
import { isGone } from '../api/problem.ts';
import { paths } from '../paths.ts';
import { NotFound } from '../ui/not-found.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { readPeriod, writePeriod } from './period.ts';
import { VideoFigures } from './video-figures.tsx';

/** What is watched of one video, reached from the figures of the workspace. The period is in the address. */
export function VideoAnalyticsPage({ id }: { id: string }) {
  const period = readPeriod(useSearch());
  const [, navigate] = useLocation();
  const { data: video, error } = useQuery({
    queryKey: ['videos', 'one', id],
    queryFn: ({ signal }) => api.videos.get(id, { signal }),
  });
  if (isGone(error)) return <NotFound what="video" />;
  const address = writePeriod(period);
  return (
    <Stack>
      <Anchor component={Link} href={`${paths.analytics}?${address}`}>
        All videos
      </Anchor>
      <div className="video-head">
        <PageTitle>{video?.title ?? 'Analytics'}</PageTitle>
        <Anchor component={Link} href={paths.video(id)}>
          Open the video
        </Anchor>
      </div>
      <VideoFigures
        videoId={id}
        period={period}
        onPeriod={(changed) =>
          navigate(`${paths.videoAnalytics(id)}?${writePeriod(changed)}`, { replace: true })
        }
      />
    </Stack>
  );
}
