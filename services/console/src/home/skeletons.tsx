import { Skeleton } from '@mantine/core';

/** The videos and what needs somebody, while they load: the lines are where those of videos will be. */
export function VideoPartsSkeleton() {
  return (
    <div className="home-videos loading" role="status" aria-label="Loading">
      <div>
        <Skeleton height={16} width="10rem" className="heading-skeleton" />
        {[28, 35, 20, 30, 25].map((width) => (
          <div key={width} className="line-skeleton">
            <Skeleton height={36} width={64} />
            <Skeleton height={12} width={`${width}%`} />
          </div>
        ))}
      </div>
      <Skeleton height={16} width="14rem" />
      <Skeleton height={16} width="16rem" />
    </div>
  );
}

/** The figures while they load. */
export function FiguresSkeleton() {
  return (
    <div className="home-figures loading" role="status" aria-label="Loading">
      <div>
        <Skeleton height={16} width="10rem" className="heading-skeleton" />
        <Skeleton height={128} radius="md" />
      </div>
      <div>
        <Skeleton height={16} width="5rem" className="heading-skeleton" />
        <Skeleton height={48} radius="md" />
      </div>
    </div>
  );
}
