import { Skeleton } from '@mantine/core';

/** Grey rows of the final height. They appear after 300 ms, so that a fast response does not flicker. */
export function Loading({ rows = 6 }: { rows?: number }) {
  return (
    <div className="loading" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={72} mb="sm" radius="md" />
      ))}
    </div>
  );
}
