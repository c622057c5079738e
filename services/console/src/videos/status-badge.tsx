import type { Video } from '@framelane/client';
import { Progress } from '@mantine/core';
import CircleCheck from 'lucide-react/icons/circle-check';
import CircleDashed from 'lucide-react/icons/circle-dashed';
import CircleX from 'lucide-react/icons/circle-x';
import Import from 'lucide-react/icons/import';
import LoaderCircle from 'lucide-react/icons/loader-circle';
import { type StatusIcon, statusIcon, statusName, statusWords } from './video-words.ts';

const ICONS = {
  waiting: CircleDashed,
  importing: Import,
  processing: LoaderCircle,
  ready: CircleCheck,
  failed: CircleX,
} as const satisfies Record<StatusIcon, unknown>;

/** The status of a video with its icon, and a bar while it is processed. */
export function StatusBadge({ video }: { video: Video }) {
  return (
    <span className="status">
      <Words video={video} words={statusWords(video)} />
      {video.status === 'processing' && (
        <Progress value={video.progress} size="xs" aria-label="Progress of the transcode" />
      )}
    </span>
  );
}

/** The status of a video with its icon, beside which something else says how far it is. */
export function StatusName({ video }: { video: Video }) {
  return <Words video={video} words={statusName(video)} />;
}

function Words({ video, words }: { video: Video; words: string }) {
  const icon = statusIcon(video);
  const Icon = ICONS[icon];
  return (
    <span className="status-words" data-status={icon}>
      <Icon />
      {words}
    </span>
  );
}
