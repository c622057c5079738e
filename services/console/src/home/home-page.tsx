import type { Video } from '@framelane/client';
import { Button, Stack } from '@mantine/core';
import Import from 'lucide-react/icons/import';
import Upload from 'lucide-react/icons/upload';
import { useState } from 'react';
import { useSession } from '../sign-in/session.ts';
import { lazyPage } from '../ui/lazy-page.ts';
import { LoadFailure } from '../ui/load-failure.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { DroppedFiles } from '../uploads/dropped-files.tsx';
import { useNewVideos } from '../uploads/new-videos.tsx';
import './home.css';
import { Overview } from './overview.tsx';
import { useNewestVideos } from './queries.ts';

const FirstVideo = lazyPage(async () => (await import('./first-video.tsx')).FirstVideo, LoadFailure);

/** The page after the sign-in: what happened and what needs somebody, or how to get the first video. */
export function HomePage() {
  const { can } = useSession();
  const newest = useNewestVideos();
  // The steps to the first video stay while somebody follows them.
  const [isFirst, setIsFirst] = useState(false);
  if (newest.data?.data.length === 0 && !isFirst) setIsFirst(true);
  return (
    <Stack gap="md">
      <div className="video-head">
        <PageTitle>Home</PageTitle>
        {can('videos:write') && !isFirst && <NewVideoButtons />}
      </div>
      {can('videos:write') && <DroppedFiles />}
      {isFirst ? (
        <FirstVideo video={firstOf(newest.data?.data ?? [])} onDone={() => setIsFirst(false)} />
      ) : (
        <Overview newest={newest} />
      )}
    </Stack>
  );
}

/** The oldest video that has not failed: after a failure, somebody tries another file. */
function firstOf(videos: readonly Video[]): Video | undefined {
  return videos.findLast(({ status }) => status !== 'failed') ?? videos[0];
}

function NewVideoButtons() {
  const { chooseFiles, openImport } = useNewVideos();
  return (
    <div className="buttons">
      <Button variant="default" leftSection={<Import />} onClick={openImport}>
        Import from URL
      </Button>
      <Button leftSection={<Upload />} onClick={chooseFiles}>
        Upload files
      </Button>
    </div>
  );
}
