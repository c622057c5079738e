import { Skeleton } from '@mantine/core';

/** The page of a video while it loads, with the player and the details in their places. */
export function VideoSkeleton() {
  return (
    <div className="loading" role="status" aria-label="Loading">
      <Skeleton height={20} width={72} mb="xs" />
      <Skeleton height={32} width="50%" mb="xs" />
      <div className="video-columns">
        <div className="video-main playback">
          <Skeleton height="auto" className="player" />
          <Skeleton height={36} />
        </div>
        <Skeleton height={320} />
      </div>
    </div>
  );
}
