import { averageBitRate, peakBitRate, type Weight } from '../bit-rate.ts';
import { audioOf, type Variant } from '../playlists/master-playlist.ts';
import { type Presentation, type Rendition, renditionOf, shortAddress } from '../presentation.ts';
import { type Finding, judged, linePlace, notApplicable, type Rule, type Verdict } from '../rule.ts';

/** Measured bit rates of a variant with its audio, in bits a second. */
type Rates = { peakAtLeast: number; peakAtMost: number; average: number };

/** How far a stated bit rate may be from the measured one. */
const TOLERANCE = 0.1;
/** Bit rates are computed from rounded durations. */
const ROUNDING = 1e-5;
const DEFAULT_VARIANT_RATE = 2_000_000;

/** Rules for the bit rates in a master playlist, compared with the measured ones. */
export const BANDWIDTH_RULES: readonly Rule[] = [
  {
    id: 'master.bandwidth',
    level: 'must',
    source: 'RFC 8216 §4.3.4.2; Apple 1.27, 9.13',
    sentence:
      'BANDWIDTH is the measured peak of video and audio together: never below it, at most 10 % above.',
    check: everyMeasuredVariant((variant, { peakAtLeast, peakAtMost }, place) => {
      const stated = numberOf(variant, 'BANDWIDTH');
      const measured = `measured ${kilobits(peakAtLeast)}, stated ${kilobits(stated)}`;
      if (stated < peakAtLeast * (1 - ROUNDING)) {
        return [
          { place, message: `BANDWIDTH is below the peak: ${measured} (${percent(stated, peakAtLeast)})` },
        ];
      }
      if (stated <= peakAtMost * (1 + TOLERANCE)) return [];
      return [{ place, message: `BANDWIDTH is too high: ${measured} (${percent(stated, peakAtMost)})` }];
    }),
  },
  {
    id: 'master.average-bandwidth',
    level: 'must',
    source: 'RFC 8216 §4.3.4.2; Apple 1.26, 9.14',
    sentence:
      'AVERAGE-BANDWIDTH is given, and within 10 % of the measured average of video and audio together.',
    check: everyMeasuredVariant((variant, { average }, place) => {
      const stated = numberOf(variant, 'AVERAGE-BANDWIDTH');
      if (Number.isNaN(stated)) return [{ place, message: 'has no AVERAGE-BANDWIDTH' }];
      if (Math.abs(stated - average) <= TOLERANCE * average) return [];
      const figures = `measured ${kilobits(average)}, stated ${kilobits(stated)} (${percent(stated, average)})`;
      return [{ place, message: `AVERAGE-BANDWIDTH is wrong: ${figures}` }];
    }),
  },
  {
    id: 'master.peak-to-average',
    level: 'should',
    source: 'Apple 1.30',
    sentence: 'The measured peak is at most twice the measured average.',
    check: everyMeasuredVariant((_variant, { peakAtLeast, average }, place) => {
      const ratio = peakAtLeast / average;
      const figures = `peak ${kilobits(peakAtLeast)}, average ${kilobits(average)}`;
      return ratio <= 2
        ? []
        : [{ place, message: `the peak is ${ratio.toFixed(2)} times the average: ${figures}` }];
    }),
  },
  {
    id: 'master.default-variant',
    level: 'should',
    source: 'Apple 1.32',
    sentence: 'The first variant is the one whose average bit rate is nearest to 2 Mb/s.',
    check: firstVariant,
  },
];

function everyMeasuredVariant(
  find: (variant: Variant, rates: Rates, place: string) => Finding[],
): Rule['check'] {
  return (presentation) => {
    const { master } = presentation;
    if (master === null) return notApplicable('there is no master playlist');
    if (master.variants.length === 0) return notApplicable('the master playlist has no variants');
    const findings: Finding[] = [];
    const figures: string[] = [];
    for (const variant of master.variants) {
      const rates = ratesOf(variant, presentation);
      if ('reason' in rates) return notApplicable(rates.reason);
      const address = shortAddress(variant.url, presentation.url);
      figures.push(`${address}: peak ${kilobits(rates.peakAtLeast)}, average ${kilobits(rates.average)}`);
      const name = shortAddress(master.file.url, presentation.url);
      findings.push(...find(variant, rates, `${linePlace(name, variant)} (${address})`));
    }
    return judged(findings, figures.join('; '));
  };
}

/** Adds the audio with the highest rate, because any combination can be played. A variant that is a member of its group is not played twice. */
function ratesOf(variant: Variant, presentation: Presentation): Rates | { reason: string } {
  const { master } = presentation;
  const own = renditionOf(variant, presentation);
  const audio = (master ? audioOf(variant, master) : []).flatMap((alternative) => {
    const rendition =
      alternative.url === null ? undefined : renditionOf({ url: alternative.url }, presentation);
    return rendition ?? [];
  });
  const parts = [own, ...audio].map((rendition) => rendition && renditionRates(rendition));
  const unknown = parts.find((part) => part === undefined || 'reason' in part);
  if (unknown) return unknown as { reason: string };
  const [base, ...audioRates] = parts as Rates[];
  if (base === undefined) return { reason: 'a variant could not be measured' };
  const isMember = own !== undefined && audio.includes(own);
  const total = (figure: keyof Rates) =>
    (isMember ? 0 : base[figure]) + Math.max(0, ...audioRates.map((rates) => rates[figure]));
  return {
    peakAtLeast: total('peakAtLeast'),
    peakAtMost: total('peakAtMost'),
    average: total('average'),
  };
}

function renditionRates({ name, playlist, segments, unread }: Rendition): Rates | { reason: string } {
  if (unread !== null) return { reason: `the segments of ${name} are not read: ${unread}` };
  const weights: Weight[] = [];
  for (const { sequence, bytes, duration } of segments) {
    if (bytes === null) return { reason: `segment ${sequence} of ${name} could not be fetched` };
    if (!(duration > 0)) return { reason: `segment ${sequence} of ${name} has no duration` };
    weights.push({ bytes, seconds: duration });
  }
  if (playlist.targetDuration === null) return { reason: `${name} has no target duration` };
  const { atLeast, atMost } = peakBitRate(weights, playlist.targetDuration);
  return { peakAtLeast: atLeast, peakAtMost: atMost, average: averageBitRate(weights) };
}

function firstVariant({ master, url }: Presentation): Verdict {
  const [first, ...others] = master?.variants ?? [];
  if (!master || !first || others.length === 0) return notApplicable('there are fewer than two variants');
  // Variants with other audio or codecs are a group of their own.
  const group = (variant: Variant) => `${variant.attributes.get('AUDIO')?.text} ${codecFamilies(variant)}`;
  const compatible = [first, ...others.filter((variant) => group(variant) === group(first))];
  const distance = (variant: Variant) =>
    Math.abs(numberOf(variant, 'AVERAGE-BANDWIDTH') - DEFAULT_VARIANT_RATE);
  if (compatible.some((variant) => Number.isNaN(distance(variant)))) {
    return notApplicable('average bit rates are not stated');
  }
  const nearest = compatible.toSorted((a, b) => distance(a) - distance(b))[0] ?? first;
  if (distance(first) <= distance(nearest)) return judged([]);
  const rate = (variant: Variant) => kilobits(numberOf(variant, 'AVERAGE-BANDWIDTH'));
  const message = `the first variant has ${rate(first)}, and ${shortAddress(nearest.url, url)} has ${rate(nearest)}`;
  return judged([{ place: linePlace(shortAddress(master.file.url, url), first), message }]);
}

function codecFamilies({ attributes }: Variant): string {
  const codecs = attributes.get('CODECS')?.text ?? '';
  return codecs
    .split(',')
    .map((codec) => codec.trim().split('.')[0])
    .sort()
    .join();
}

function numberOf({ attributes }: Variant, name: string): number {
  return Number(attributes.get(name)?.text ?? Number.NaN);
}

function kilobits(bitsPerSecond: number): string {
  return `${(bitsPerSecond / 1000).toFixed(1)} kb/s`;
}

function percent(stated: number, measured: number): string {
  const difference = 100 * (stated / measured - 1);
  return `${difference > 0 ? '+' : ''}${difference.toFixed(1)} %`;
}
