import { Skeleton } from '@mantine/core';

/** The page of a video while it loads, with the player and the details in their places. */
export function VideoSkeleton() {
  return (
    <div className="loading" role="status" aria-label="Loading">
      <Skeleton height={24} width={96} mb="md" />
      <Skeleton height={36} width="50%" mb="md" />
      <div className="video-columns">
        <Skeleton height="auto" className="player" />
        <Skeleton height={320} />
      </div>
    </div>
  );
}
