import type { Schemas } from '@framelane/client';
import { Anchor, Stack } from '@mantine/core';
import { Link, useLocation, useSearch } from 'wouter';
import { api } from '../api/api.ts';
import { paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { formatCount, formatPercent, formatWatchTime } from './analytics-words.ts';
import { Breakdown } from './breakdown.tsx';
import { Figures } from './figures.tsx';
import { NoViews } from './no-views.tsx';
import { readPeriod, writePeriod } from './period.ts';

/** What is watched of all videos of the workspace. */
export function AnalyticsPage() {
  const { workspace, environment } = useSession();
  const period = readPeriod(useSearch());
  const [, navigate] = useLocation();
  return (
    <Stack>
      <PageTitle>Analytics</PageTitle>
      <Figures
        of={['analytics', workspace.id, environment]}
        load={(query, signal) => api.analytics.get({ ...query, environment }, { signal })}
        period={period}
        onPeriod={(changed) => navigate(`${paths.analytics}?${writePeriod(changed)}`, { replace: true })}
        empty={<NoViews />}
        more={({ topVideos = [], views }) => <TopVideos videos={topVideos} views={views} />}
      />
    </Stack>
  );
}

type TopVideosProps = { videos: readonly Schemas['WatchedVideo'][]; views: number };

function TopVideos({ videos, views }: TopVideosProps) {
  return (
    <Breakdown
      title="Top videos"
      empty="No views."
      whole={views}
      parts={videos.map((video) => ({
        key: video.videoId,
        name: <VideoName video={video} />,
        value: video.views,
        words: wordsOf(video),
      }))}
    />
  );
}

/** Who may not see videos has no title, and gets no link. */
function VideoName({ video: { videoId, title } }: { video: Schemas['WatchedVideo'] }) {
  if (title === null) return videoId;
  return (
    <Anchor component={Link} href={paths.videoAnalytics(videoId)} inherit title={title}>
      {title}
    </Anchor>
  );
}

function wordsOf({ views, watchSeconds, averagePercentage }: Schemas['WatchedVideo']): string {
  const average = averagePercentage === null ? '' : `, ${formatPercent(averagePercentage)} watched`;
  return `${formatCount(views)} ${views === 1 ? 'view' : 'views'}, ${formatWatchTime(watchSeconds)}${average}`;
}
