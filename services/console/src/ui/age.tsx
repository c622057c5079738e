import { formatAge, formatTime } from './format.ts';
import { useNow } from './now.ts';

/** How long ago something was. The age grows while it is shown; a pointer shows the time itself. */
export function Age({ time, className }: { time: string; className?: string }) {
  const now = useNow();
  return (
    <time className={className} dateTime={time} title={formatTime(time)}>
      {formatAge(time, now)}
    </time>
  );
}
