import type { Video } from '@framelane/client';
import { Anchor, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { VideoAnalytics } from '../analytics/video-analytics.tsx';
import { isGone } from '../api/problem.ts';
import { paths } from '../paths.ts';
import { Copy } from '../ui/copy.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { NotFound } from '../ui/not-found.tsx';
import { focusTab, PageTabs, useTab } from '../ui/page-tabs.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { CaptionsSection } from './captions-section.tsx';
import { ChaptersSection } from './chapters-section.tsx';
import { ClipsSection } from './clips-section.tsx';
import { CodeSection } from './code-section.tsx';
import { DeleteVideo } from './delete-video.tsx';
import { DownloadsSection } from './downloads-section.tsx';
import { EditVideo } from './edit-video.tsx';
import { EmbedSection } from './embed-section.tsx';
import { InputIssues } from './input-issues.tsx';
import { NextSteps } from './next-steps.tsx';
import { Player } from './player.tsx';
import { PosterSection } from './poster-section.tsx';
import { isPlayable, useVideo } from './queries.ts';
import { ShareSection } from './share-section.tsx';
import { SourceSection } from './source-section.tsx';
import { StatusName } from './status-badge.tsx';
import { StreamSection } from './stream-section.tsx';
import { TimelineSection } from './timeline-section.tsx';
import { VideoFacts } from './video-facts.tsx';
import { VideoFailure } from './video-failure.tsx';
import './video-page.css';
import { VideoSkeleton } from './video-skeleton.tsx';
import { VideoStage } from './video-stage.tsx';
import { TAB_NAMES, tabsOf, type VideoTab } from './video-tabs.ts';

export function VideoPage({ id }: { id: string }) {
  const { data: video, error, refetch } = useVideo(id);
  if (isGone(error)) return <NotFound what="video" />;
  if (video === undefined) {
    return error === null ? <VideoSkeleton /> : <ErrorAlert error={error} retry={() => void refetch()} />;
  }
  const failure = error !== null && <ErrorAlert error={error} retry={() => void refetch()} />;
  return <LoadedVideo video={video} failure={failure} />;
}

/** `failure` says why the shown record may be an old one. */
function LoadedVideo({ video, failure }: { video: Video; failure: ReactNode }) {
  const ids = tabsOf(video);
  const [tab, setTab] = useTab(ids);
  // An open player does not load new chapters.
  const [revision, setRevision] = useState(0);
  const contents: Record<VideoTab, ReactNode> = {
    overview: <Overview video={video} />,
    captions: (
      <>
        <CaptionsSection video={video} />
        <ChaptersSection video={video} onChange={() => setRevision((before) => before + 1)} />
      </>
    ),
    outputs: (
      <>
        <StreamSection video={video} />
        <DownloadsSection video={video} />
        <SourceSection video={video} />
      </>
    ),
    share: <ShareSection video={video} />,
    embed: <EmbedSection video={video} isShown={tab === 'embed'} />,
    code: <CodeSection video={video} />,
    analytics: <VideoAnalytics videoId={video.id} />,
    activity: <TimelineSection video={video} />,
  };
  return (
    <Stack gap="sm">
      <Anchor component={Link} href={paths.videos} className="video-back">
        All videos
      </Anchor>
      <div className="video-head">
        <div className="video-name">
          <PageTitle>{video.title}</PageTitle>
          <StatusName video={video} />
        </div>
        <NextSteps
          video={video}
          onOpen={(chosen) => {
            setTab(chosen);
            focusTab(chosen);
          }}
        />
      </div>
      {failure}
      <div className="video-columns">
        <div className="video-main">
          <Playback video={video} revision={revision} />
          <PageTabs
            label="Parts of the page"
            tabs={ids.map((id) => ({
              id,
              name: TAB_NAMES[id],
              content: <div className="tab-sections">{contents[id]}</div>,
            }))}
            chosen={tab}
            onChoose={setTab}
          />
        </div>
        <div className="video-aside">
          <Copy label="Video id" value={video.id} />
          <VideoFacts video={video} action={<EditVideo video={video} />} />
          <DeleteVideo video={video} />
        </div>
      </div>
    </Stack>
  );
}

function Overview({ video }: { video: Video }) {
  return (
    <>
      <InputIssues issues={video.inputIssues} />
      <PosterSection video={video} />
      {video.status === 'ready' && <ClipsSection video={video} />}
    </>
  );
}

/** The player, or what the video still needs. */
function Playback({ video, revision }: { video: Video; revision: number }) {
  if (video.status === 'failed') return <VideoFailure video={video} />;
  return (
    <div className="playback">
      {isPlayable(video) && <Player video={video} revision={revision} />}
      {video.status !== 'ready' && <VideoStage video={video} />}
    </div>
  );
}
