import type { Schemas } from '@framelane/client';
import { isNearLimit, usedPercent } from '../usage/figures.ts';

/** What somebody should do about the quotas that are used up, or nearly. */
export function quotaAdvice({
  storedBytes,
  transcodedMinutes,
  videos,
  uploads,
}: Schemas['Limits']): string[] {
  const isNear = ({ used, limit }: { used: number; limit: number | null }) =>
    limit !== 0 && isNearLimit(usedPercent(used, limit));
  const advice = [
    [
      isNear({ ...storedBytes, used: storedBytes.used + storedBytes.reserved }),
      'The storage is full, or nearly. Without room, uploads are refused: delete videos, or ask the operator for a higher limit.',
    ],
    [
      isNear(transcodedMinutes),
      'The minutes are used up, or nearly. Without minutes, uploads are refused until the next month (UTC), or until the operator raises the limit.',
    ],
    [
      isNear(videos),
      'The workspace has as many videos as it may have, or nearly. Delete videos, or ask the operator for a higher limit.',
    ],
    [
      isNear(uploads),
      'All open upload tickets are in use, or nearly all. They become free when their files arrive, or when they expire.',
    ],
    [videos.limit === 0, 'The operator allows no new videos.'],
  ] as const;
  return advice.flatMap(([isDue, words]) => (isDue ? [words] : []));
}
