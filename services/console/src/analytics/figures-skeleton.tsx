import { Skeleton } from '@mantine/core';

/** Grey areas of the height of the figures, which appear after 300 ms. */
export function FiguresSkeleton() {
  return (
    <div className="loading analytics-figures" role="status" aria-label="Loading">
      <Skeleton height={66} radius="md" />
      <Skeleton height={200} radius="md" />
      <div className="breakdowns">
        <Skeleton height={160} radius="md" />
        <Skeleton height={160} radius="md" />
      </div>
    </div>
  );
}
