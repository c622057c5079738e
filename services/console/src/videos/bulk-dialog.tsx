import type { Video } from '@framelane/client';
import { Button, Group, Modal, Progress as ProgressBar, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { apiIn } from '../api/api.ts';
import { wordsFor } from '../api/problem.ts';
import { useSession } from '../sign-in/session.ts';
import { useUploadQueue } from '../uploads/uploads-provider.tsx';
import { forEachLeft, initialProgress, type Progress, readTags, retryProgress } from './bulk.ts';
import { BulkForm } from './bulk-form.tsx';
import { type BulkAction, changeable, type Made, taskOf, undoTags } from './bulk-tasks.ts';
import { BULK_WORDS, summaryOf } from './bulk-words.ts';

type BulkDialogProps = {
  action: BulkAction;
  videos: readonly Video[];
  /**
   * Called with the videos that are done, and the result in words, which is empty if nothing was begun. `undo` reverses it; undefined if
   * that is not possible.
   */
  onClose: (done: readonly Video[], words: string, undo?: () => Promise<unknown>) => void;
};

/** Changes several videos, and shows the result for each. The dialog cannot be closed during the action. */
export function BulkDialog({ action, videos, onClose }: BulkDialogProps) {
  const queries = useQueryClient();
  const { workspace, environment } = useSession();
  const uploads = useUploadQueue();
  const [typed, setTyped] = useState('');
  const [progress, setProgress] = useState<Progress<Video>>();
  const [running, setRunning] = useState<AbortController>();
  const isShown = useIsShown();
  const made = useRef<Made>({ tags: [] });
  const chosen = changeable(action, videos);

  const run = async (start: Progress<Video>) => {
    const controller = new AbortController();
    setRunning(controller);
    setProgress(start);
    // "Back" does not stop it, so the tab may show another workspace before it ends.
    const api = apiIn({ workspaceId: workspace.id, environment });
    // Each run has its own: two can run at the same time, because “Back” does not stop the first.
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    const result = await forEachLeft(start, taskOf(api, action, readTags(typed), made.current), {
      signal: controller.signal,
      onProgress: setProgress,
    });
    removeEventListener('beforeunload', warn);
    setRunning(undefined);
    if (action === 'delete') uploads.forget(result.done.map(({ id }) => id));
    void refresh();
    const isComplete = result.failed.length + result.left.length === 0;
    if (isComplete) onClose(result.done, summaryOf(action, result), undoOf(api));
    // Somebody went back to another page, which this dialog does not cover.
    else if (!isShown.current) alert(summaryOf(action, result));
  };

  const undoOf = (api: ReturnType<typeof apiIn>) => {
    const { tags } = made.current;
    return tags.length === 0 ? undefined : () => undoTags(api, tags).finally(refresh);
  };
  const refresh = () => queries.invalidateQueries({ queryKey: ['videos'] });

  const close = () => {
    if (running !== undefined) return;
    if (progress === undefined) return onClose([], '');
    const api = apiIn({ workspaceId: workspace.id, environment });
    onClose(progress.done, summaryOf(action, progress), undoOf(api));
  };
  return (
    <Modal opened onClose={close} withCloseButton={running === undefined} title={BULK_WORDS[action].title}>
      {progress === undefined ? (
        <BulkForm
          action={action}
          videos={chosen}
          others={videos.length - chosen.length}
          typed={typed}
          onType={setTyped}
          onSubmit={() => void run(initialProgress(chosen))}
          onCancel={close}
        />
      ) : (
        <BulkProgress
          action={action}
          progress={progress}
          onStop={running && (() => running.abort())}
          onRetry={() => void run(retryProgress(progress))}
          onClose={close}
        />
      )}
    </Modal>
  );
}

/** The most failed videos that are listed: each further one makes every step of the action slower. */
const LISTED_FAILURES = 100;

type BulkProgressProps = {
  action: BulkAction;
  progress: Progress<Video>;
  /** Undefined when it has ended. */
  onStop: (() => void) | undefined;
  onRetry: () => void;
  onClose: () => void;
};

function BulkProgress({ action, progress, onStop, onRetry, onClose }: BulkProgressProps) {
  const { done, failed, left } = progress;
  const total = done.length + failed.length + left.length;
  return (
    <Stack>
      <Text role="status">{summaryOf(action, progress)}</Text>
      <ProgressBar
        value={(100 * (total - left.length)) / total}
        color={failed.length > 0 ? 'red' : 'blue'}
        aria-label="Videos that are done"
      />
      {failed.length > 0 && (
        <ul className="failures" aria-label="Failed">
          {failed.slice(0, LISTED_FAILURES).map(({ item: { id, title }, error }) => (
            <Failure key={id} title={title} error={error} />
          ))}
          {failed.length > LISTED_FAILURES && (
            <li className="hint">{`and ${(failed.length - LISTED_FAILURES).toLocaleString()} more`}</li>
          )}
        </ul>
      )}
      {onStop === undefined ? (
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button onClick={onRetry}>{failed.length > 0 ? 'Retry' : 'Continue'}</Button>
        </Group>
      ) : (
        <>
          <Text size="sm" c="dimmed">
            If there are too many requests, this waits up to a minute and continues.
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={onStop}>
              Stop
            </Button>
          </Group>
        </>
      )}
    </Stack>
  );
}

function Failure({ title, error }: { title: string; error: unknown }) {
  const { detail, requestId } = wordsFor(error);
  return (
    <li>
      <span className="row-title">{title}</span>
      <div className="error-words">{detail}</div>
      {requestId !== null && <div className="request-id">Request {requestId}</div>}
    </li>
  );
}

/** Whether the component is still on the page. */
function useIsShown() {
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return isShown;
}
