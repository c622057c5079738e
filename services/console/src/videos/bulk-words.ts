import type { Progress } from './bulk.ts';
import type { BulkAction } from './bulk-tasks.ts';

export const BULK_WORDS = {
  delete: { title: 'Delete videos', submit: 'Delete', done: 'deleted' },
  add: { title: 'Add tags', submit: 'Add', done: 'changed' },
  remove: { title: 'Remove tags', submit: 'Remove', done: 'changed' },
  retry: { title: 'Retry videos', submit: 'Retry', done: 'begun again' },
  import: { title: 'Import again', submit: 'Import again', done: 'begun again' },
} as const satisfies Record<BulkAction, object>;

/** What a bulk action does to `count` videos, in sentences; `others` of those that were chosen it cannot change. */
export function consequencesOf(action: BulkAction, count: number, others: number): string[] {
  switch (action) {
    case 'delete':
      return [
        `${videosOf(count)}, their files and their streams are deleted at once. This cannot be undone.`,
      ];
    case 'retry':
      return [
        ...(count === 0 ? [] : [`${videosOf(count)}: Framelane transcodes the stored file again.`]),
        ...(others === 0
          ? []
          : [`${videosOf(others)} cannot be retried: the file is not stored, or would fail again.`]),
      ];
    case 'import':
      return [
        `${videosOf(count)}: Framelane fetches the file again into a new video with the same details, and deletes the failed one.`,
        'URLs are stored without their query, and without request headers. Where the server needs them, import the video by itself.',
      ];
    case 'add':
    case 'remove':
      return [];
  }
}

/** E.g. `12 of 25 deleted, 2 failed, 11 left`. */
export function summaryOf(action: BulkAction, { done, failed, left }: Progress<unknown>): string {
  const total = done.length + failed.length + left.length;
  return [
    `${done.length} of ${total} ${BULK_WORDS[action].done}`,
    ...(failed.length > 0 ? [`${failed.length} failed`] : []),
    ...(left.length > 0 ? [`${left.length} left`] : []),
  ].join(', ');
}

export function videosOf(count: number): string {
  return count === 1 ? '1 video' : `${count} videos`;
}
