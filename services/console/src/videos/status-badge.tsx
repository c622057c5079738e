import type { Video } from '@framelane/client';
import { Badge, Progress } from '@mantine/core';
import { STATUS_COLOURS, statusWords } from './video-words.ts';

/** The status of a video, with a bar while it is processed. */
export function StatusBadge({ video }: { video: Video }) {
  return (
    <span className="status">
      <Badge variant="light" color={STATUS_COLOURS[video.status]}>
        {statusWords(video)}
      </Badge>
      {video.status === 'processing' && (
        <Progress value={video.progress} size="sm" aria-label="Progress of the transcode" />
      )}
    </span>
  );
}
