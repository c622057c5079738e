import type { Schemas, Video } from '@framelane/client';
import { Fragment, type RefObject, useCallback, useRef, useState } from 'react';
import { paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { useShortcut } from '../ui/shortcuts.ts';
import { useToast } from '../ui/toasts.tsx';
import { useLatest } from '../ui/use-latest.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import type { BulkAction } from './bulk-tasks.ts';
import { FailureGroupRow } from './failure-group-row.tsx';
import { isGroup, withGroups } from './failure-groups.ts';
import { type ListAddress, readListAddress, writeListAddress } from './list-address.ts';
import { ListHead } from './list-head.tsx';
import { videoOfRow } from './place.ts';
import { useSelection } from './selection.ts';
import { VideoRow } from './video-row.tsx';

type VideoListProps = {
  ref: RefObject<HTMLUListElement | null>;
  videos: readonly Video[];
  /** Of all pages; undefined until it is known. */
  total: Schemas['VideoTotal'] | undefined;
  address: ListAddress;
  /** Whether the videos are still those of the previous page or filter. */
  isLoading: boolean;
};

/** The rows of a page, and the bulk actions. */
export function VideoList({ ref, videos, total, address, isLoading }: VideoListProps) {
  const { can } = useSession();
  const toast = useToast();
  const key = writeListAddress(address);
  const selection = useSelection(key, videos);
  const usable = can('videos:write') ? selection : undefined;
  const [bulk, setBulk] = useState<{ action: BulkAction; videos: readonly Video[] }>();
  const opener = useRef<Element>(null);
  const [open, setOpen] = useState<readonly string[]>([]);
  const begin = (action: BulkAction, chosen: readonly Video[], button: Element) => {
    opener.current = button;
    setBulk({ action, videos: chosen });
  };
  const toggle = useLatest((id: string) => selection.toggle([id]));
  // Rows show it, so it changes with the address.
  const addressOfTag = useCallback(
    (tag: string) => paths.videos + writeListAddress({ ...readListAddress(key), tag, cursor: '' }),
    [key],
  );
  const row = (video: Video, isMember: boolean) => (
    <VideoRow
      key={video.id}
      video={video}
      isMember={isMember}
      addressOfTag={addressOfTag}
      isSelected={selection.has(video.id)}
      onToggle={usable && toggle}
    />
  );
  useRowShortcuts(usable && toggle);
  return (
    <div>
      {usable && (
        <ListHead address={address} videos={videos} total={total} selection={usable} onAction={begin} />
      )}
      <ul className="rows video-rows" ref={ref} tabIndex={-1} aria-label="Videos" aria-busy={isLoading}>
        {withGroups(videos).map((entry) =>
          isGroup(entry) ? (
            <Fragment key={entry.key}>
              <FailureGroupRow
                group={entry}
                isOpen={open.includes(entry.key)}
                onToggle={() =>
                  setOpen(
                    open.includes(entry.key)
                      ? open.filter((each) => each !== entry.key)
                      : [...open, entry.key],
                  )
                }
                selection={usable}
                onRetry={(button) => begin('retry', entry.videos, button)}
              />
              {open.includes(entry.key) && entry.videos.map((video) => row(video, true))}
            </Fragment>
          ) : (
            row(entry, false)
          ),
        )}
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
            const changed = new Set(done.map(({ id }) => id));
            selection.select(selection.selected.map(({ id }) => id).filter((id) => !changed.has(id)));
          }}
        />
      )}
    </div>
  );
}

/** `j` and `k` move between the rows, `x` selects one. Enter follows its link. */
function useRowShortcuts(toggle: ((id: string) => void) | undefined): void {
  const links = () => [...document.querySelectorAll<HTMLElement>('.rows .row-title')];
  const current = () => links().findIndex((link) => link.closest('li')?.contains(document.activeElement));
  const move = (by: 1 | -1) => {
    const [all, at] = [links(), current()];
    all[at === -1 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))]?.focus();
  };
  useShortcut('j', 'Next video', () => move(1));
  useShortcut('k', 'Previous video', () => move(-1));
  const toggleCurrent = () => {
    const id = videoOfRow(links()[current()]);
    if (id !== undefined) toggle?.(id);
  };
  useShortcut('x', 'Select the video', toggle === undefined ? null : toggleCurrent);
}
