import { trendOf } from './error-trend.ts';

type Props = { daily: readonly { day: string; count: number }[]; now: number };

const HEIGHT = 16;
const BAR = 4;
const STEP = 6;

/** A bar for each day of the log. Days without errors have a line. */
export function ErrorTrend({ daily, now }: Props) {
  const trend = trendOf(daily, now);
  const most = Math.max(1, ...trend.map(({ count }) => count));
  const width = trend.length * STEP - (STEP - BAR);
  const words = daily.map(({ day, count }) => `${day}: ${count}`).join(', ');
  return (
    <svg
      className="error-trend"
      role="img"
      aria-label={`By day in UTC: ${words}`}
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
    >
      <title>{words}</title>
      {trend.map(({ day, count }, index) => {
        const height = count === 0 ? 1 : Math.max(3, Math.round((count / most) * HEIGHT));
        return <rect key={day} x={index * STEP} y={HEIGHT - height} width={BAR} height={height} rx={1} />;
      })}
    </svg>
  );
}
