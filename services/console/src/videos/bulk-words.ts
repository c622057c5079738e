import type { Video } from '@framelane/client';
import type { Progress } from './bulk.ts';
import type { BulkAction } from './bulk-tasks.ts';
import { canImportAgain } from './import-again.ts';
import { videosOf } from './range-words.ts';

export const BULK_WORDS = {
  delete: { title: 'Delete videos', submit: 'Delete', done: 'deleted' },
  add: { title: 'Add tags', submit: 'Add', done: 'changed' },
  remove: { title: 'Remove tags', submit: 'Remove', done: 'changed' },
  retry: { title: 'Retry videos', submit: 'Retry', done: 'begun again' },
} as const satisfies Record<BulkAction, object>;

/** What a bulk action does to videos, in sentences; `others` of those that were chosen it cannot change. */
export function consequencesOf(action: BulkAction, videos: readonly Video[], others: number): string[] {
  switch (action) {
    case 'delete':
      return [
        `${videosOf(videos.length)}, their files and their streams are deleted at once. This cannot be undone.`,
      ];
    case 'retry': {
      const imports = videos.filter(canImportAgain).length;
      const transcodes = videos.length - imports;
      return [
        ...(transcodes > 0 ? [`${videosOf(transcodes)}: Framelane transcodes the stored file again.`] : []),
        ...(imports > 0
          ? [
              `${videosOf(imports)}: Framelane imports the file again as a new video with the same details, and deletes the failed one. Captions, chapters and a poster that were set are deleted with it. The query of a URL and request headers are not stored. If the server needs them, the import fails again.`,
            ]
          : []),
        ...(others > 0
          ? [`${videosOf(others)} cannot be retried: the file is not stored, or would fail again.`]
          : []),
      ];
    }
    case 'add':
    case 'remove':
      return [];
  }
}

/** E.g. `12 of 25 deleted, 2 failed, 11 left`. */
export function summaryOf(action: BulkAction, { done, failed, left }: Progress<unknown>): string {
  const total = done.length + failed.length + left.length;
  return [
    `${done.length.toLocaleString()} of ${total.toLocaleString()} ${BULK_WORDS[action].done}`,
    ...(failed.length > 0 ? [`${failed.length.toLocaleString()} failed`] : []),
    ...(left.length > 0 ? [`${left.length.toLocaleString()} left`] : []),
  ].join(', ');
}

/** Whether somebody typed this count, with or without separators between groups of three digits. */
export function matchesCount(typed: string, count: number): boolean {
  const [first = '', ...groups] = typed.trim().split(/[\s.,'’]/);
  return groups.every(({ length }) => length === 3) && first + groups.join('') === String(count);
}
