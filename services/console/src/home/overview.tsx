import { useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { useWebhooks } from '../webhooks/queries.ts';
import { Failed } from './failed.tsx';
import { useLastVisit } from './last-visit.ts';
import {
  useFailedVideos,
  useLimits,
  type useNewestVideos,
  useUnfinishedVideos,
  useWatched,
} from './queries.ts';
import { Running } from './running.tsx';
import { Since } from './since.tsx';
import { FiguresSkeleton, VideoPartsSkeleton } from './skeletons.tsx';
import { Storage } from './storage.tsx';
import { Watched } from './watched.tsx';
import { Webhooks } from './webhooks.tsx';

/** How far back the page goes in a first visit, and at least for failures. */
const WEEK_MS = 7 * 86_400_000;

/** What happened to the videos, and how the workspace is. */
export function Overview({ newest }: { newest: ReturnType<typeof useNewestVideos> }) {
  return (
    <div className="home">
      <VideoParts newest={newest} />
      <Figures />
    </div>
  );
}

/** They have different heights, so they appear together, and what is below them later: nothing moves. */
function VideoParts({ newest }: { newest: ReturnType<typeof useNewestVideos> }) {
  const { workspace, can } = useSession();
  const unfinished = useUnfinishedVideos();
  const failed = useFailedVideos();
  const webhooks = useWebhooks(can('webhooks:read'));
  const lastVisit = useLastVisit(workspace.id);
  const queries = [newest, unfinished, failed];
  if (queries.some(({ isPending }) => isPending)) return <VideoPartsSkeleton />;
  const weekAgo = Date.now() - WEEK_MS;
  return (
    <div className="home-videos">
      {queries.map(({ data, error, refetch }, at) =>
        data === undefined && error !== null ? (
          <ErrorAlert key={at} error={error} retry={() => void refetch()} />
        ) : null,
      )}
      {newest.data && <Since page={newest.data} lastVisit={lastVisit} weekAgo={weekAgo} />}
      {unfinished.data && <Running page={unfinished.data} />}
      {failed.data && <Failed page={failed.data} time={Math.min(lastVisit ?? weekAgo, weekAgo)} />}
      {can('webhooks:read') && <Webhooks query={webhooks} />}
    </div>
  );
}

/** What was watched has different heights, so the usage below it appears later. */
function Figures() {
  const { can } = useSession();
  const watched = useWatched();
  const limits = useLimits();
  if (can('analytics:read') && watched.isPending) return <FiguresSkeleton />;
  return (
    <div className="home-figures">
      <Watched query={watched} />
      {can('usage:read') && <Storage query={limits} />}
    </div>
  );
}
