import type { Video } from '@framelane/client';
import { Anchor, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { isGone } from '../api/problem.ts';
import { paths } from '../paths.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { NotFound } from '../ui/not-found.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { CaptionsSection } from './captions-section.tsx';
import { ChaptersSection } from './chapters-section.tsx';
import { ClipsSection } from './clips-section.tsx';
import { DeleteVideo } from './delete-video.tsx';
import { DownloadsSection } from './downloads-section.tsx';
import { EditVideo } from './edit-video.tsx';
import { Player } from './player.tsx';
import { PosterSection } from './poster-section.tsx';
import { useVideo } from './queries.ts';
import { Renditions } from './renditions.tsx';
import { ShareSection } from './share-section.tsx';
import { SourceSection } from './source-section.tsx';
import { StatusBadge } from './status-badge.tsx';
import { TimelineSection } from './timeline-section.tsx';
import { VideoFacts } from './video-facts.tsx';
import { VideoFailure } from './video-failure.tsx';
import './video-page.css';
import { VideoSkeleton } from './video-skeleton.tsx';
import { VideoStage } from './video-stage.tsx';

export function VideoPage({ id }: { id: string }) {
  const { data: video, error, refetch } = useVideo(id);
  // An open player does not load new chapters.
  const [chaptersRevision, setChaptersRevision] = useState(0);
  if (isGone(error)) return <NotFound what="video" />;
  if (video === undefined) {
    return error === null ? <VideoSkeleton /> : <ErrorAlert error={error} retry={() => void refetch()} />;
  }
  return (
    <Stack>
      <Anchor component={Link} href={paths.videos}>
        All videos
      </Anchor>
      <div className="video-head">
        <PageTitle>{video.title}</PageTitle>
        <StatusBadge video={video} />
      </div>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      <div className="video-columns">
        <div className="video-main">
          <Playback video={video} revision={chaptersRevision} />
          {!isLost(video) && (
            <ChaptersSection
              key={video.id}
              video={video}
              onChange={() => setChaptersRevision((revision) => revision + 1)}
            />
          )}
          {!isLost(video) && <CaptionsSection video={video} />}
          {!isLost(video) && <ShareSection video={video} />}
          {!isLost(video) && <DownloadsSection video={video} />}
          {video.status === 'ready' && <ClipsSection key={`clip of ${video.id}`} video={video} />}
        </div>
        <div className="video-aside">
          <VideoFacts video={video} action={<EditVideo video={video} />} />
          <PosterSection video={video} />
          {video.status === 'ready' && <Renditions video={video} />}
          <TimelineSection video={video} />
          <SourceSection video={video} />
          <DeleteVideo video={video} />
        </div>
      </div>
    </Stack>
  );
}

/** Whether the video can never be played. */
function isLost({ status, retryable }: Video): boolean {
  return status === 'failed' && !retryable;
}

/** The player, or what the video still needs. */
function Playback({ video, revision }: { video: Video; revision: number }) {
  if (video.status === 'failed') return <VideoFailure video={video} />;
  return (
    <>
      {video.status !== 'ready' && <VideoStage video={video} />}
      <Player video={video} revision={revision} />
    </>
  );
}
