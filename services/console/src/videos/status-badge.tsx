import type { Video } from '@framelane/client';
import { Progress } from '@mantine/core';
import { uploadWords } from '../uploads/progress-words.ts';
import { percentOf } from '../uploads/upload-items.ts';
import { useUploadOf } from '../uploads/uploads-provider.tsx';
import { STATUS_ICONS } from './status-icons.ts';
import { statusIcon, statusName, statusWords } from './video-words.ts';

/** The status of a video with its icon, and a bar while it is processed or while this page uploads its file. */
export function StatusBadge({ video }: { video: Video }) {
  const upload = useUploadStatus(video);
  return (
    <span className="status">
      <Words video={video} upload={upload?.words} words={statusWords(video)} />
      {video.status === 'processing' && (
        <Progress value={video.progress} size="xs" aria-label="Progress of the transcode" />
      )}
      {upload !== undefined && (
        <Progress value={upload.percent} size="xs" aria-label="Progress of the upload" />
      )}
    </span>
  );
}

/** The status of a video with its icon, beside which something else says how far it is. */
export function StatusName({ video }: { video: Video }) {
  return <Words video={video} upload={useUploadStatus(video)?.words} words={statusName(video)} />;
}

/** What this page knows about the file of a video that Framelane does not have yet; undefined if it does not upload it. */
function useUploadStatus({ id, status }: Video): { words: string; percent: number } | undefined {
  const item = useUploadOf(id);
  const words = item && status === 'uploading' ? uploadWords(item) : undefined;
  return item === undefined || words === undefined ? undefined : { words, percent: percentOf(item) };
}

type WordsProps = { video: Video; words: string; upload: string | undefined };

function Words({ video, words, upload }: WordsProps) {
  const icon = upload === undefined ? statusIcon(video) : 'uploading';
  const Icon = STATUS_ICONS[icon];
  return (
    <span className="status-words" data-status={icon}>
      <Icon />
      {upload ?? words}
    </span>
  );
}
