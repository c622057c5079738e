import { Anchor } from '@mantine/core';
import { DOCS_URL } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { Section } from '../ui/section.tsx';
import { DayBars } from './day-bars.tsx';
import { Part } from './part.tsx';
import { useWatched } from './queries.ts';
import { changeWords, formatWatchTime, weekOf } from './week.ts';

/** Views and watch time of the last seven days. */
export function Watched() {
  const { can } = useSession();
  const query = useWatched();
  if (!can('analytics:read'))
    return <p className="hint">To see what is watched, your session needs the permission analytics:read.</p>;
  return (
    <Section title="Watched in the last seven days">
      <Part query={query} height={132}>
        {({ days }) => {
          const week = weekOf(days ?? []);
          if (week.views === 0)
            return (
              <p className="hint">
                No views.{' '}
                <Anchor
                  inherit
                  underline="always"
                  href={`${DOCS_URL}analytics`}
                  target="_blank"
                  rel="noopener"
                >
                  What is counted
                </Anchor>
              </p>
            );
          return (
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
              <p className="hint">{changeWords(week) ?? 'No views in the week before'}</p>
            </div>
          );
        }}
      </Part>
    </Section>
  );
}
