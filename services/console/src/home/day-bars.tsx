import type { Week } from './week.ts';

const HEIGHT = 48;
const STEP = 40;
const WIDTH = 28;
/** A day with few views still shows. */
const LEAST = 2;

/** Views by day, as bars. Readers get the figures. */
export function DayBars({ days }: Pick<Week, 'days'>) {
  const most = Math.max(1, ...days.map(({ views }) => views));
  const words = days.map((day) => `${weekdayOf(day.date)} ${day.views}`).join(', ');
  return (
    <div className="day-bars">
      <svg
        viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Views by day: ${words}`}
      >
        {days.map(({ date, views }, at) => {
          const height = views === 0 ? 1 : Math.max(LEAST, (HEIGHT * views) / most);
          return (
            <rect
              key={date}
              x={at * STEP + (STEP - WIDTH) / 2}
              y={HEIGHT - height}
              width={WIDTH}
              height={height}
              className={views === 0 ? 'none' : undefined}
            >
              <title>{`${weekdayOf(date)}: ${views.toLocaleString()}`}</title>
            </rect>
          );
        })}
      </svg>
      <div className="day-names" aria-hidden>
        {days.map(({ date }) => (
          <span key={date}>{weekdayOf(date)}</span>
        ))}
      </div>
    </div>
  );
}

/** Days are those of UTC. */
function weekdayOf(date: string): string {
  return new Date(date).toLocaleDateString('en', { weekday: 'short', timeZone: 'UTC' });
}
