import type { Schemas } from '@framelane/client';
import { Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { pollInterval } from '../api/live.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Breakdowns } from './breakdowns.tsx';
import { FiguresSkeleton } from './figures-skeleton.tsx';
import { Measures } from './measures.tsx';
import { StoppedNote, SwitchedOff } from './no-views.tsx';
import { type Period, queryOfPeriod } from './period.ts';
import { PeriodFilter } from './period-filter.tsx';
import './analytics.css';

type Analytics = Schemas['Analytics'];
type Query = { from: string; to?: string; groupBy: 'day' };

type FiguresProps = {
  /** Whose figures: the beginning of the key of the query. */
  of: readonly string[];
  load: (query: Query, signal: AbortSignal) => Promise<Analytics>;
  period: Period;
  onPeriod: (period: Period) => void;
  /** What is shown without views. */
  empty: ReactNode;
  /** What the figures have besides those of every subject. */
  more: (analytics: Analytics) => ReactNode;
};

/** What was watched of a video or of all videos in a period, polled, with its states. */
export function Figures({ of, load, period, onPeriod, empty, more }: FiguresProps) {
  const request = queryOfPeriod(period, Date.now());
  const query = 'query' in request ? { ...request.query, groupBy: 'day' as const } : undefined;
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: [...of, query],
    queryFn: ({ signal }) => load(query as Query, signal),
    enabled: query !== undefined,
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval(false),
  });
  return (
    <div className="analytics">
      <PeriodFilter period={period} onChange={onPeriod} />
      {'problem' in request && (
        <Text role="alert" className="error-words">
          {request.problem}
        </Text>
      )}
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && query !== undefined && <FiguresSkeleton />}
      {data !== undefined && (
        <div className="analytics-figures" aria-busy={isPlaceholderData}>
          <Shown analytics={data} empty={empty} more={more} />
        </div>
      )}
    </div>
  );
}

function Shown({ analytics, empty, more }: { analytics: Analytics } & Pick<FiguresProps, 'empty' | 'more'>) {
  const isEmpty = analytics.views === 0 && analytics.errors.length === 0;
  if (isEmpty) return analytics.enabled ? empty : <SwitchedOff />;
  return (
    <>
      {!analytics.enabled && <StoppedNote />}
      <Measures analytics={analytics} />
      {more(analytics)}
      <Breakdowns analytics={analytics} />
    </>
  );
}
