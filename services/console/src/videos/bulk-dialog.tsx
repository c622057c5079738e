import type { Video } from '@framelane/client';
import { Button, Group, Modal, Progress as ProgressBar, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { apiIn } from '../api/api.ts';
import { isGone, wordsFor } from '../api/problem.ts';
import { useSession } from '../sign-in/session.ts';
import { FormButtons } from '../ui/form-buttons.tsx';
import { changeTags, forEachLeft, initialProgress, type Progress, readTags, retryProgress } from './bulk.ts';

export type BulkAction = 'delete' | 'add' | 'remove';

type BulkDialogProps = {
  action: BulkAction;
  videos: readonly Video[];
  /**
   * Called with the videos that are done, and the result in words, which is empty if nothing was begun. `undo` reverses it; undefined if
   * that is not possible.
   */
  onClose: (done: readonly Video[], words: string, undo?: () => Promise<unknown>) => void;
};

/** With more retries than usual: the client waits for `Retry-After` when there are too many requests. */
const PATIENT = { retries: 6 };

const WORDS = {
  delete: { title: 'Delete videos', submit: 'Delete', done: 'deleted' },
  add: { title: 'Add tags', submit: 'Add', done: 'changed' },
  remove: { title: 'Remove tags', submit: 'Remove', done: 'changed' },
} as const;

/** Deletes or tags several videos, and shows the result for each. The dialog cannot be closed during the action. */
export function BulkDialog({ action, videos, onClose }: BulkDialogProps) {
  const queries = useQueryClient();
  const { workspace, environment } = useSession();
  const [typed, setTyped] = useState('');
  const [progress, setProgress] = useState<Progress<Video>>();
  const [running, setRunning] = useState<AbortController>();
  const isShown = useIsShown();
  // The tags of each video that were really added or removed.
  const changes = useRef<TagChange[]>([]);

  const run = async (start: Progress<Video>) => {
    const controller = new AbortController();
    setRunning(controller);
    setProgress(start);
    // "Back" does not stop it, so the tab may show another workspace before it ends.
    const api = apiIn({ workspaceId: workspace.id, environment });
    // Each run has its own: two can run at the same time, because “Back” does not stop the first.
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    const result = await forEachLeft(start, taskOf(api, action, typed, changes.current), {
      signal: controller.signal,
      onProgress: setProgress,
    });
    removeEventListener('beforeunload', warn);
    setRunning(undefined);
    void refresh();
    const isComplete = result.failed.length + result.left.length === 0;
    if (isComplete) onClose(result.done, summaryOf(action, result), undoOf(api));
    // Somebody went back to another page, which this dialog does not cover.
    else if (!isShown.current) alert(summaryOf(action, result));
  };

  const undoOf = (api: Api) => {
    const made = changes.current;
    return made.length === 0 ? undefined : () => undoTags(api, made).finally(refresh);
  };
  const refresh = () => queries.invalidateQueries({ queryKey: ['videos'] });

  const close = () => {
    if (running !== undefined) return;
    if (progress === undefined) return onClose([], '');
    const api = apiIn({ workspaceId: workspace.id, environment });
    onClose(progress.done, summaryOf(action, progress), undoOf(api));
  };
  return (
    <Modal opened onClose={close} withCloseButton={running === undefined} title={WORDS[action].title}>
      {progress === undefined ? (
        <BulkForm
          action={action}
          count={videos.length}
          typed={typed}
          onType={setTyped}
          onSubmit={() => void run(initialProgress(videos))}
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

type Api = ReturnType<typeof apiIn>;

/** The tags that an action has added to a video, or removed from it. */
type TagChange = { id: string; action: 'add' | 'remove'; tags: readonly string[] };

/** Reverses changes of tags, and leaves those that somebody else has made meanwhile. Throws the first error after all have ended. */
async function undoTags(api: Api, changes: readonly TagChange[]): Promise<void> {
  const { failed } = await forEachLeft(
    initialProgress(changes),
    ({ id, action, tags }) => changeTagsOf(api, id, action === 'add' ? 'remove' : 'add', tags),
    { signal: new AbortController().signal, onProgress: () => {} },
  );
  if (failed[0] !== undefined) throw failed[0].error;
}

/** Changes the tags that a video has at that moment, not those of the list. Resolves with those that were added or removed. */
async function changeTagsOf(
  api: Api,
  id: string,
  action: 'add' | 'remove',
  tags: readonly string[],
): Promise<readonly string[]> {
  const before = (await api.videos.get(id, PATIENT)).tags;
  const after = changeTags(before, action, tags);
  if (after === undefined) return [];
  await api.videos.update(id, { tags: after }, PATIENT);
  return tags.filter((tag) => before.includes(tag) !== after.includes(tag));
}

/** The request for one video. Changes of tags are added to `changes`. */
function taskOf(
  api: Api,
  action: BulkAction,
  typed: string,
  changes: TagChange[],
): (video: Video) => Promise<unknown> {
  if (action === 'delete') {
    return ({ id }) =>
      api.videos.delete(id, PATIENT).catch((error: unknown) => {
        // The video is already deleted: by somebody else, or by an earlier request whose response was lost.
        if (!isGone(error)) throw error;
      });
  }
  return async ({ id }) => {
    const tags = await changeTagsOf(api, id, action, readTags(typed));
    if (tags.length > 0) changes.push({ id, action, tags });
  };
}

type BulkFormProps = {
  action: BulkAction;
  count: number;
  typed: string;
  onType: (typed: string) => void;
  onSubmit: () => void;
  onCancel: () => void;
};

function BulkForm({ action, count, typed, onType, onSubmit, onCancel }: BulkFormProps) {
  const isDeletion = action === 'delete';
  const isValid = isDeletion ? typed.trim() === String(count) : readTags(typed).length > 0;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isValid) onSubmit();
      }}
    >
      <Stack>
        {isDeletion && (
          <Text>
            {videosOf(count)}, their files and their streams are deleted at once. This cannot be undone.
          </Text>
        )}
        <TextInput
          label={isDeletion ? `Type the number of videos to confirm: ${count}` : `Tags of ${videosOf(count)}`}
          description={isDeletion ? undefined : 'Separate several with commas.'}
          inputMode={isDeletion ? 'numeric' : undefined}
          value={typed}
          onChange={({ currentTarget }) => onType(currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        <FormButtons
          cancel={isDeletion ? 'Keep' : 'Cancel'}
          onCancel={onCancel}
          submit={WORDS[action].submit}
          color={isDeletion ? 'red' : 'blue'}
          disabled={!isValid}
          loading={false}
        />
      </Stack>
    </form>
  );
}

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
          {failed.map(({ item: { id, title }, error }) => (
            <Failure key={id} title={title} error={error} />
          ))}
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

/** E.g. `12 of 25 deleted, 2 failed, 11 left`. */
function summaryOf(action: BulkAction, { done, failed, left }: Progress<unknown>): string {
  const total = done.length + failed.length + left.length;
  return [
    `${done.length} of ${total} ${WORDS[action].done}`,
    ...(failed.length > 0 ? [`${failed.length} failed`] : []),
    ...(left.length > 0 ? [`${left.length} left`] : []),
  ].join(', ');
}

function videosOf(count: number): string {
  return count === 1 ? '1 video' : `${count} videos`;
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
