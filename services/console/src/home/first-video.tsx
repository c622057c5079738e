import type { Video } from '@framelane/client';
import { Anchor, Button, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { API_URL, DOCS_URL, paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { Copy } from '../ui/copy.tsx';
import { useUploadItems, useUploadQueue } from '../uploads/uploads-provider.tsx';
import { isPlayable } from '../videos/queries.ts';
import { DropTarget } from './drop-target.tsx';
import { firstCode } from './first-code.ts';
import { FirstVideoView } from './first-video-view.tsx';
import { KeyStep } from './key-step.tsx';
import { usePlayed } from './played.ts';
import { Step, Steps } from './steps.tsx';

type FirstVideoProps = {
  /** The first video, as soon as it exists. */
  video: Video | undefined;
  /** Shows the overview. */
  onDone: () => void;
};

/** For a workspace without videos: how to get the first one, and its way to the player on the same page. */
export function FirstVideo({ video, onDone }: FirstVideoProps) {
  const { can, environment, workspace } = useSession();
  const items = useUploadItems(useUploadQueue());
  // The queue can list files whose videos were deleted since.
  const [earlier] = useState(() => new Set(items.map(({ id }) => id)));
  const upload = items.findLast(({ id, videoId }) =>
    video === undefined ? !earlier.has(id) : videoId === video.id,
  );
  const played = usePlayed(video?.embed);
  const isArrived = video !== undefined && video.status !== 'uploading';
  const isBegun = video !== undefined || upload !== undefined;
  return (
    <div className="home">
      <div className="home-videos">
        {isBegun ? (
          <FirstVideoView upload={upload} video={video} />
        ) : (
          <Text>{`${workspace.name} has no videos in the environment ${environment} yet.`}</Text>
        )}
        {(!isBegun || video?.status === 'failed' || upload?.state === 'failed') &&
          (can('videos:write') ? (
            <DropTarget />
          ) : (
            <p className="hint">Somebody with the permission videos:write can upload one.</p>
          ))}
        <details className="first-code">
          <summary>The same from a program</summary>
          <Copy
            label="curl, with the secret of an API key in KEY"
            value={firstCode({ apiUrl: API_URL, workspaceId: workspace.id })}
          />
          <p className="hint">
            Libraries, resumable uploads and uploads from browsers:{' '}
            <Anchor inherit underline="always" href={`${DOCS_URL}uploads`} target="_blank" rel="noopener">
              Uploads
            </Anchor>
          </p>
        </details>
      </div>
      <div className="home-figures">
        <Steps>
          {can('api_keys:read') && <KeyStep />}
          <Step title="Upload a video" isDone={isArrived}>
            <span className="hint">{isArrived ? video.filename : 'A file of yours, or the sample.'}</span>
          </Step>
          <Step title="Play it" isDone={played}>
            {video !== undefined && isPlayable(video) ? (
              <Anchor component={Link} href={paths.video(video.id)} size="sm">
                Share it, embed it, add captions
              </Anchor>
            ) : (
              <span className="hint">The player appears here.</span>
            )}
          </Step>
        </Steps>
        {video?.status === 'ready' && (
          <Button variant="default" onClick={onDone}>
            Show the overview
          </Button>
        )}
      </div>
    </div>
  );
}
