import type { Schemas, Video } from '@framelane/client';
import { Button, Checkbox } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { type BulkAction, canRetry } from './bulk-tasks.ts';
import type { ListAddress } from './list-address.ts';
import type { Selection } from './selection.ts';
import { useAllVideos } from './use-all-videos.ts';

type ListHeadProps = {
  address: ListAddress;
  /** Those of the page. */
  videos: readonly Video[];
  /** Of all pages; undefined until it is known. */
  total: Schemas['VideoTotal'] | undefined;
  selection: Selection;
  /** Begins an action; the focus returns to `opener` after it. */
  onAction: (action: BulkAction, videos: readonly Video[], opener: Element) => void;
};

/** Above the rows: what is selected, and what can be done with it. */
export function ListHead({ address, videos, total, selection, onAction }: ListHeadProps) {
  const { selected, select, selectAll } = selection;
  const all = useAllVideos(address);
  const isMore = total?.exact === true && total.count > videos.length;
  const action = (name: BulkAction, words: string, color = 'gray') => (
    <HeadButton color={color} onClick={(opener) => onAction(name, selected, opener)}>
      {words}
    </HeadButton>
  );
  return (
    <div className="list-head">
      <Checkbox
        label={selected.length === 0 ? 'Select all' : `${selected.length.toLocaleString()} selected`}
        checked={selected.length >= videos.length}
        indeterminate={selected.length > 0 && selected.length < videos.length}
        onChange={({ currentTarget }) => select(currentTarget.checked ? videos.map(({ id }) => id) : [])}
      />
      {all.found !== undefined ? (
        <span className="bulk" role="status">
          <span className="hint">{`Reading the list: ${all.found} of ${total?.count ?? 'all'}`}</span>
          <HeadButton onClick={all.stop}>Stop</HeadButton>
        </span>
      ) : (
        <>
          {selected.length === videos.length && isMore && (
            <HeadButton onClick={() => all.read(selectAll)}>
              {`Select all ${total.count.toLocaleString()}`}
            </HeadButton>
          )}
          {selected.length > 0 ? (
            <div className="bulk">
              {action('add', 'Add tags')}
              {action('remove', 'Remove tags')}
              {selected.some(canRetry) && action('retry', 'Retry')}
              {action('delete', 'Delete', 'red')}
            </div>
          ) : (
            address.status === 'failed' &&
            total?.exact === true && (
              <HeadButton
                onClick={(opener) =>
                  isMore
                    ? all.read((found) => onAction('retry', found, opener))
                    : onAction('retry', videos, opener)
                }
              >
                Retry all failed
              </HeadButton>
            )
          )}
        </>
      )}
      {all.error !== null && <ErrorAlert error={all.error} />}
    </div>
  );
}

type HeadButtonProps = { color?: string; onClick: (button: Element) => void; children: ReactNode };

function HeadButton({ color = 'gray', onClick, children }: HeadButtonProps) {
  return (
    <Button
      size="xs"
      variant={color === 'red' ? 'outline' : 'default'}
      color={color}
      onClick={({ currentTarget }) => onClick(currentTarget)}
    >
      {children}
    </Button>
  );
}
