import type { Video } from '@framelane/client';
import { Button, Checkbox } from '@mantine/core';
import { type RefObject, useRef, useState } from 'react';
import { paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { useShortcut } from '../ui/shortcuts.ts';
import { useToast } from '../ui/toasts.tsx';
import { type BulkAction, BulkDialog } from './bulk-dialog.tsx';
import { type ListAddress, writeListAddress } from './list-address.ts';
import { VideoRow } from './video-row.tsx';

type VideoListProps = {
  ref: RefObject<HTMLUListElement | null>;
  videos: readonly Video[];
  address: ListAddress;
  /** Whether the videos are still those of the previous page or filter. */
  isLoading: boolean;
};

const NOTHING: ReadonlySet<string> = new Set();

/** The rows of a page, and the bulk actions. */
export function VideoList({ ref, videos, address, isLoading }: VideoListProps) {
  const { can } = useSession();
  const toast = useToast();
  const canWrite = can('videos:write');
  const key = writeListAddress(address);
  // Only videos of the current page are selected, so that nobody changes videos that are not shown.
  const [selection, setSelection] = useState({ key, ids: NOTHING });
  const [bulk, setBulk] = useState<{ action: BulkAction; videos: readonly Video[] }>();
  const opener = useRef<Element>(null);
  const selected = videos.filter(({ id }) => selection.key === key && selection.ids.has(id));
  const select = (ids: Iterable<string>) => setSelection({ key, ids: new Set(ids) });
  const toggle = (id: string) => {
    const ids = selected.map((video) => video.id);
    select(ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id]);
  };
  useRowShortcuts(videos, canWrite ? toggle : null);
  return (
    <div>
      {canWrite && (
        <div className="list-head">
          <Checkbox
            label={selected.length === 0 ? 'Select all' : `${selected.length} selected`}
            checked={selected.length === videos.length}
            indeterminate={selected.length > 0 && selected.length < videos.length}
            onChange={({ currentTarget }) => select(currentTarget.checked ? videos.map(({ id }) => id) : [])}
          />
          {selected.length > 0 && (
            <div className="bulk">
              {BULK_BUTTONS.map(({ action, name, color }) => (
                <Button
                  key={action}
                  size="xs"
                  variant={color === 'red' ? 'outline' : 'default'}
                  color={color}
                  onClick={({ currentTarget }) => {
                    opener.current = currentTarget;
                    setBulk({ action, videos: selected });
                  }}
                >
                  {name}
                </Button>
              ))}
            </div>
          )}
        </div>
      )}
      <ul className="rows video-rows" ref={ref} tabIndex={-1} aria-label="Videos" aria-busy={isLoading}>
        {videos.map((video) => (
          <VideoRow
            key={video.id}
            video={video}
            addressOfTag={(tag) => paths.videos + writeListAddress({ ...address, tag, cursor: '' })}
            selection={
              canWrite
                ? { isSelected: selected.includes(video), onToggle: () => toggle(video.id) }
                : undefined
            }
          />
        ))}
      </ul>
      {bulk && (
        <BulkDialog
          {...bulk}
          onClose={(done, words, undo) => {
            setBulk(undefined);
            if (words !== '') toast({ words, undo });
            // Moves the focus when the dialog is closed. The button that opened it is gone if nothing is selected any more.
            requestAnimationFrame(() =>
              opener.current instanceof HTMLElement && opener.current.isConnected
                ? opener.current.focus()
                : (ref.current ?? document.getElementById('content'))?.focus(),
            );
            select(selected.filter((video) => !done.some(({ id }) => id === video.id)).map(({ id }) => id));
          }}
        />
      )}
    </div>
  );
}

const BULK_BUTTONS = [
  { action: 'add', name: 'Add tags', color: 'gray' },
  { action: 'remove', name: 'Remove tags', color: 'gray' },
  { action: 'delete', name: 'Delete', color: 'red' },
] as const;

/** `j` and `k` move between the rows, `x` selects one. Enter follows its link. */
function useRowShortcuts(videos: readonly Video[], toggle: ((id: string) => void) | null): void {
  const links = () => [...document.querySelectorAll<HTMLElement>('.rows .row-title')];
  const current = () => links().findIndex((link) => link.closest('li')?.contains(document.activeElement));
  const move = (by: 1 | -1) => {
    const [all, at] = [links(), current()];
    all[at === -1 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))]?.focus();
  };
  useShortcut('j', 'Next video', () => move(1));
  useShortcut('k', 'Previous video', () => move(-1));
  const toggleCurrent = () => {
    const video = videos[current()];
    if (video !== undefined) toggle?.(video.id);
  };
  useShortcut('x', 'Select the video', toggle && toggleCurrent);
}
