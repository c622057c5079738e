import { Skeleton } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Failed } from './failed.tsx';
import { useLastVisit } from './last-visit.ts';
import { useFailedVideos, type useNewestVideos, useUnfinishedVideos } from './queries.ts';
import { Running } from './running.tsx';
import { Since } from './since.tsx';
import { Storage } from './storage.tsx';
import { Watched } from './watched.tsx';
import { Webhooks } from './webhooks.tsx';

/** How far back the page goes in a first visit, and at least for failures. */
const WEEK_MS = 7 * 86_400_000;

/** What happened to the videos, and how the workspace is. */
export function Overview({ newest }: { newest: ReturnType<typeof useNewestVideos> }) {
  const { can } = useSession();
  const hasFigures = can('usage:read') || can('analytics:read');
  return (
    <div className="home">
      <div className="home-videos">
        <VideoParts newest={newest} />
        {can('webhooks:read') && <Webhooks />}
      </div>
      {hasFigures && (
        <div className="home-figures">
          <Watched />
          {can('usage:read') && <Storage />}
        </div>
      )}
    </div>
  );
}

/** They have different heights, so they appear together: nothing moves. */
function VideoParts({ newest }: { newest: ReturnType<typeof useNewestVideos> }) {
  const { workspace } = useSession();
  const unfinished = useUnfinishedVideos();
  const failed = useFailedVideos();
  const lastVisit = useLastVisit(workspace.id);
  const queries = [newest, unfinished, failed];
  if (queries.some(({ isPending }) => isPending)) return <VideoPartsSkeleton />;
  const weekAgo = Date.now() - WEEK_MS;
  return (
    <>
      {queries.map(({ data, error, refetch }, at) =>
        data === undefined && error !== null ? (
          <ErrorAlert key={at} error={error} retry={() => void refetch()} />
        ) : null,
      )}
      {newest.data && <Since page={newest.data} lastVisit={lastVisit} weekAgo={weekAgo} />}
      {unfinished.data && <Running page={unfinished.data} />}
      {failed.data && <Failed page={failed.data} time={Math.min(lastVisit ?? weekAgo, weekAgo)} />}
    </>
  );
}

function VideoPartsSkeleton(): ReactNode {
  return (
    <div className="loading" role="status" aria-label="Loading">
      <Skeleton height={20} width="12rem" mb="md" />
      {[0, 1, 2, 3].map((row) => (
        <Skeleton key={row} height={44} mb="xs" />
      ))}
      <Skeleton height={20} width="8rem" mt="lg" mb="md" />
      <Skeleton height={44} />
    </div>
  );
}
