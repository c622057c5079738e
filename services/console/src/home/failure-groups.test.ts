import type { Video } from '@framelane/client';
import { expect, test } from '@jest/globals';
import { failureGroups } from './failure-groups.ts';

const NOW = Date.UTC(2026, 10, 30);

function failed(id: string, code: string, message: string, hoursAgo = 1): Video {
  return {
    id,
    error: { code, message },
    updatedAt: new Date(NOW - hoursAgo * 3_600_000).toISOString(),
  } as Video;
}

test('videos that failed for the same reason are one group', () => {
  const groups = failureGroups(
    [
      failed('a', 'not_a_video', 'The file is text.'),
      failed('b', 'import_host_not_found', 'The host example.com was not found.'),
      failed('c', 'not_a_video', 'The file is text.'),
      failed('d', 'not_a_video', 'The file is a picture.'),
      failed('old', 'not_a_video', 'The file is text.', 25),
      { id: 'ready', error: null, updatedAt: new Date(NOW).toISOString() } as Video,
    ],
    NOW - 24 * 3_600_000,
  );
  expect(groups.map(({ error, videos }) => [error.message, videos.map(({ id }) => id)])).toEqual([
    ['The file is text.', ['a', 'c']],
    ['The host example.com was not found.', ['b']],
    ['The file is a picture.', ['d']],
  ]);
});
