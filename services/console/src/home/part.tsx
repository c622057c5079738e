import { Skeleton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorAlert } from '../ui/error-alert.tsx';

type PartProps<Data> = {
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>;
  /** The usual height in pixels, so that what is below does not move. */
  height: number;
  children: (data: Data) => ReactNode;
};

/** A part of the page that needs a request. If that fails, the others stay. What was loaded before stays, too. */
export function Part<Data>({ query: { data, error, refetch }, height, children }: PartProps<Data>) {
  if (data !== undefined) return children(data);
  if (error !== null) return <ErrorAlert error={error} retry={() => void refetch()} />;
  return (
    <div className="loading" role="status" aria-label="Loading">
      <Skeleton height={height} radius="md" />
    </div>
  );
}
