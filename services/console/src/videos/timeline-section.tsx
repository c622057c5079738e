import type { Video } from '@framelane/client';
import { isConnectionError } from '../api/problem.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { formatTime } from '../ui/format.ts';
import { Loading } from '../ui/loading.tsx';
import { Section } from '../ui/section.tsx';
import { useTimeline } from './queries.ts';
import { entryTime, timelineWords } from './timeline-words.ts';

/** The timeline of a video, oldest entry first. */
export function TimelineSection({ video }: { video: Video }) {
  const { data, error, refetch } = useTimeline(video);
  // The video page itself reports a lost connection.
  const showsError = error !== null && !isConnectionError(error);
  return (
    <Section title="Timeline">
      {showsError && <ErrorAlert error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={2} />}
      <ol className="timeline">
        {data?.entries.map((entry, at) => (
          <li
            key={`${entry.type} ${entry.attempt?.number} ${entry.at}`}
            data-type={entry.attempt?.outcome ?? entry.type}
          >
            <span>{timelineWords(entry, video, data.loadedAt)}</span>
            <time className="hint" dateTime={entry.at} title={formatTime(entry.at)}>
              {entryTime(entry.at, data.entries[at - 1]?.at)}
            </time>
          </li>
        ))}
      </ol>
    </Section>
  );
}
