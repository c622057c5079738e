import type { Schemas } from '@framelane/client';
import { Fact, Facts } from '../ui/facts.tsx';
import { Section } from '../ui/section.tsx';
import {
  countryName,
  DEVICE_WORDS,
  ERROR_WORDS,
  formatCount,
  formatStart,
  formatWatchTime,
  stallWords,
} from './analytics-words.ts';
import { Breakdown } from './breakdown.tsx';

/** How well the videos played, and on what. */
export function Breakdowns({ analytics }: { analytics: Schemas['Analytics'] }) {
  const { renditions, devices, countries } = analytics;
  return (
    <div className="breakdowns">
      <Quality analytics={analytics} />
      <Breakdown
        title="Renditions"
        empty="No player has said which rendition it showed."
        parts={renditions.map(({ rendition, watchSeconds }) => ({
          key: rendition,
          name: rendition,
          value: watchSeconds,
          words: formatWatchTime(watchSeconds),
        }))}
      />
      <Breakdown
        title="Devices"
        empty="No views."
        parts={devices.map(({ device, views }) => ({
          key: device,
          name: DEVICE_WORDS[device],
          value: views,
          words: formatCount(views),
        }))}
      />
      {countries.length > 0 && (
        <Breakdown
          title="Countries"
          empty=""
          parts={countries.map(({ country, views }) => ({
            key: country,
            name: countryName(country),
            value: views,
            words: formatCount(views),
          }))}
        />
      )}
    </div>
  );
}

function Quality({ analytics }: { analytics: Schemas['Analytics'] }) {
  const { startupTime, stalls, errors } = analytics;
  return (
    <Section title="Playback quality">
      <Facts>
        <Fact name="Start, half of the views">{startWords(startupTime.p50)}</Fact>
        <Fact name="Start, 95 % of the views">{startWords(startupTime.p95)}</Fact>
        <Fact name="Stalls">{stallWords(analytics)}</Fact>
        <Fact name="Stalled for">{formatWatchTime(stalls.seconds)}</Fact>
        <Fact name="Playbacks with an error">
          {errors.length === 0 && 'None'}
          {errors.map(({ code, playbacks }) => (
            <div key={code}>
              {formatCount(playbacks)}: {ERROR_WORDS[code]}
            </div>
          ))}
        </Fact>
      </Facts>
    </Section>
  );
}

function startWords(seconds: number | null): string {
  return seconds === null ? 'Not reported' : `within ${formatStart(seconds)}`;
}
