import type { Schemas } from '@framelane/client';
import { isNearLimit, usedPercent } from '../usage/figures.ts';

/** What somebody should do about the quotas that are nearly used up. */
export function quotaAdvice({
  storedBytes,
  transcodedMinutes,
  videos,
  uploads,
}: Schemas['Limits']): string[] {
  const isNear = ({ used, limit }: { used: number; limit: number | null }) =>
    isNearLimit(usedPercent(used, limit));
  const advice = [
    [
      isNear({ ...storedBytes, used: storedBytes.used + storedBytes.reserved }),
      'The storage is nearly full. Without room, uploads are refused: delete videos, or ask the operator for a higher limit.',
    ],
    [
      isNear(transcodedMinutes),
      'The minutes are nearly used up. Then uploads are refused until the next month (UTC), or until the operator raises the limit.',
    ],
    [
      isNear(videos),
      'The workspace has nearly as many videos as it may have. Delete videos, or ask the operator for a higher limit.',
    ],
    [
      isNear(uploads),
      'Nearly all open upload tickets are in use. They become free when their files arrive, or when they expire.',
    ],
  ] as const;
  return advice.flatMap(([isDue, words]) => (isDue ? [words] : []));
}
