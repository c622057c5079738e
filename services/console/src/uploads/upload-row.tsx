import { Anchor, Button, Progress } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { wordsFor } from '../api/problem.ts';
import { paths } from '../paths.ts';
import { Confirm } from '../ui/confirm.tsx';
import { FileButton } from '../ui/file-button.tsx';
import { progressWords } from './progress-words.ts';
import { canPause, type Item, percentOf } from './upload-items.ts';
import { useUploadQueue } from './uploads-provider.tsx';
import { VIDEO_FILES } from './video-files.ts';

/** One file of the panel. */
export function UploadRow({ item }: { item: Item }) {
  const queue = useUploadQueue();
  const { id, name, state, videoId, error } = item;
  const hasArrived = state === 'sent';
  const [isCancelling, setIsCancelling] = useState(false);
  const cancel = () => (item.sent > 0 ? setIsCancelling(true) : queue.remove(item));
  const action = (words: string, onClick: () => void) => (
    <Button size="compact-sm" variant="default" onClick={onClick} aria-label={`${words} ${name}`}>
      {words}
    </Button>
  );
  return (
    <li>
      <div className="upload-name">
        {hasArrived && videoId !== undefined ? (
          <Anchor component={Link} href={paths.video(videoId)}>
            {name}
          </Anchor>
        ) : (
          <span>{name}</span>
        )}
        <div className="buttons">
          {canPause(item) && action('Pause', () => queue.pause(id))}
          {state === 'paused' && action('Resume', () => queue.resume(id))}
          {state === 'failed' && action('Retry', () => queue.resume(id))}
          {state === 'unfinished' && <ChooseAgain item={item} />}
          {state === 'ended' && action('Remove', () => queue.remove(item))}
          {!hasArrived && state !== 'ended' && action('Cancel', cancel)}
        </div>
      </div>
      <Progress
        value={percentOf(item)}
        color={state === 'failed' || state === 'ended' || item.hasFailed ? 'red' : 'blue'}
        aria-label={`Upload of ${name}`}
      />
      <div className="hint">{progressWords(item)}</div>
      {state === 'failed' && <Failure error={error} />}
      <Confirm
        title="Cancel upload"
        submit="Cancel upload"
        isOpen={isCancelling && !hasArrived}
        onClose={() => setIsCancelling(false)}
        action={async () => queue.remove(item)}
        onDone={() => {}}
      >
        {`What has arrived of “${name}” is deleted. To stop for now, pause it instead.`}
      </Confirm>
    </li>
  );
}

function Failure({ error }: { error: unknown }) {
  const { detail, requestId } = wordsFor(error);
  return (
    <div className="error-words">
      {detail}
      {requestId !== null && <div className="request-id">Request {requestId}</div>}
    </div>
  );
}

/** Asks for the file of an unfinished upload: the browser loses it when the page is loaded again. */
function ChooseAgain({ item }: { item: Item }) {
  const queue = useUploadQueue();
  return (
    <FileButton
      size="compact-sm"
      aria-label={`Choose file again: ${item.name}`}
      label={`File of the upload ${item.name}`}
      accept={VIDEO_FILES}
      onFile={(file) => queue.choose(item, file)}
    >
      Choose file
    </FileButton>
  );
}
