import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Chart } from '../ui/chart.tsx';
import { formatDuration } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { readTiles } from '../ui/storyboard-tiles.ts';
import { TileView } from '../ui/tile-view.tsx';
import { formatPercent } from './analytics-words.ts';
import { byTenth, middles, partNames, TENTHS, tileAt } from './timeline.ts';

type RetentionProps = {
  /** The percentage of the views that include each part. */
  retention: readonly number[];
  duration: number | null;
  storyboard: string | null;
};

/** Where viewers leave: a curve over the timeline, with the picture at the pointer. */
export function Retention({ retention, duration, storyboard }: RetentionProps) {
  const { data: tiles = [] } = useQuery({
    queryKey: ['storyboard', 'all', storyboard],
    queryFn: async ({ signal }) => {
      const response = await fetch(storyboard ?? '', { signal });
      // The curve is of use without pictures.
      return response.ok ? readTiles(await response.text(), response.url) : [];
    },
    enabled: storyboard !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const count = retention.length;
  const times = useMemo(() => middles(count, duration ?? 0), [count, duration]);
  if (duration === null || count === 0) return null;
  const pictureOf = (part: number) => {
    const tile = tileAt(tiles, part, count);
    return tile && <TileView tile={tile} maxWidth={160} maxHeight={120} />;
  };
  return (
    <Section title="Where viewers leave">
      <Chart
        label="Curve of the views that include each part of the video. The table has the figures."
        kind="timeline"
        times={times}
        names={partNames(count, duration)}
        values={retention}
        format={formatPercent}
        highest={100}
        more={pictureOf}
      />
      <p className="hint">The share of the views that include each hundredth of the video.</p>
      <details className="figures">
        <summary>Figures by tenth of the video</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">Views that include it</th>
            </tr>
          </thead>
          <tbody>
            {byTenth(retention).map((share, at) => (
              <tr key={at}>
                <th scope="row">{formatDuration((at * duration) / TENTHS)}</th>
                <td>{formatPercent(share)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </Section>
  );
}
