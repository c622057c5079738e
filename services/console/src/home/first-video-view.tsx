import type { Video } from '@framelane/client';
import { Progress, Text } from '@mantine/core';
import { type Item, percentOf } from '../uploads/upload-items.ts';
import { Player } from '../videos/player.tsx';
import { isPlayable } from '../videos/queries.ts';
import { VideoFailure } from '../videos/video-failure.tsx';
import { VideoStage } from '../videos/video-stage.tsx';

type FirstVideoViewProps = {
  /** The upload of the video in this tab, if it is one. */
  upload: Item | undefined;
  video: Video | undefined;
};

/** The first video on its way: upload, progress, player. */
export function FirstVideoView({ upload, video }: FirstVideoViewProps) {
  if (video === undefined || (video.status === 'uploading' && video.import === null && upload !== undefined))
    return upload && <UploadStage upload={upload} />;
  return (
    <div className="first-view">
      <VideoFailure video={video} />
      {isPlayable(video) && <Player video={video} revision={0} />}
      {video.status !== 'ready' && video.status !== 'failed' && <VideoStage video={video} />}
    </div>
  );
}

function UploadStage({ upload }: { upload: Item }) {
  const percent = percentOf(upload);
  return (
    <div className="stage player">
      <Text fw={600}>{uploadWords(upload, percent)}</Text>
      <Progress value={percent} aria-label="Progress of the upload" />
      <Text className="hint">
        {upload.error === undefined
          ? 'When the file is complete, an engine transcodes it.'
          : 'The list of uploads at the bottom says why.'}
      </Text>
    </div>
  );
}

function uploadWords({ name, state }: Item, percent: number): string {
  if (state === 'failed') return `The upload of ${name} has failed`;
  return `${name} ${state === 'paused' ? 'is paused' : 'is being uploaded'}: ${percent} %`;
}
