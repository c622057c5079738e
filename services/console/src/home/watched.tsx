import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { DOCS_URL, paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { permissionWords } from '../ui/permission-words.ts';
import { Section } from '../ui/section.tsx';
import { DayBars } from './day-bars.tsx';
import { Part } from './part.tsx';
import type { useWatched } from './queries.ts';
import { changeWords, formatWatchTime, type Week, weekOf } from './week.ts';

/** Views and watch time of the last seven days; one line if nobody is counted, or the session may not see it. */
export function Watched({ query }: { query: ReturnType<typeof useWatched> }) {
  const { can } = useSession();
  if (!can('analytics:read'))
    return (
      <p className="hint">
        To see what is watched, your session needs the permission “{permissionWords('analytics:read')}”.
      </p>
    );
  return (
    <Part query={query} height={160}>
      {({ enabled, days }) => {
        const week = weekOf(days ?? []);
        if (week.views > 0) return <WatchedWeek week={week} isCounted={enabled} />;
        if (!enabled) return <p className="hint">Analytics is switched off: no views are counted.</p>;
        return <p className="hint">No views in the last seven days. {WHAT_IS_COUNTED}</p>;
      }}
    </Part>
  );
}

const WHAT_IS_COUNTED: ReactNode = (
  <Anchor inherit underline="always" href={`${DOCS_URL}analytics`} target="_blank" rel="noopener">
    What is counted
  </Anchor>
);

function WatchedWeek({ week, isCounted }: { week: Week; isCounted: boolean }) {
  return (
    <Section
      title="Watched"
      action={
        <Anchor component={Link} href={paths.analytics} size="sm">
          Analytics
        </Anchor>
      }
    >
      <div className="watched">
        <p className="figure-line">
          <span>
            <strong>{week.views.toLocaleString()}</strong> {week.views === 1 ? 'view' : 'views'}
          </span>
          <span>
            <strong>{formatWatchTime(week.watchSeconds)}</strong> watched
          </span>
        </p>
        <DayBars days={week.days} />
        <p className="hint">
          In the last seven days.{' '}
          {isCounted
            ? (changeWords(week) ?? 'No views in the seven days before.')
            : 'Analytics is switched off now.'}
        </p>
      </div>
    </Section>
  );
}
