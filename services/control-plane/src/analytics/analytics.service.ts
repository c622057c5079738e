import type { components } from '@framelane/openapi/types';
import type { Database } from '../db/database.ts';
import { everyDay, outerDays, type UsagePeriod } from '../usage/usage-period.ts';
import type { VideosService } from '../videos/videos.service.ts';
import {
  type FiguresOfDay,
  findCounts,
  findFigures,
  findRetention,
  type NamedCount,
  type Subject,
} from './analytics.store.ts';
import { startupPercentile } from './startup-times.ts';
import { PARTS } from './watched-parts.ts';

/** The figures of a workspace or a video; those of a video have `retention`. */
export type Analytics = components['schemas']['Analytics'];

type Options = { byDay: boolean };

/** Reports what was watched. */
export class AnalyticsService {
  readonly #db: Database;
  readonly #videos: VideosService;

  constructor({ db, videos }: { db: Database; videos: VideosService }) {
    this.#db = db;
    this.#videos = videos;
  }

  /** The figures of all videos of a workspace in one environment. Throws 400 for too many days in a report by day. */
  ofWorkspace(
    subject: Extract<Subject, { workspaceId: string }>,
    period: UsagePeriod,
    options: Options,
  ): Promise<Analytics> {
    return this.#figures(subject, period, options);
  }

  /** The figures of a video. Throws 404 `video_not_found`, and 400 as above. */
  async ofVideo(
    { workspaceId, videoId }: { workspaceId: string; videoId: string },
    period: UsagePeriod,
    options: Options,
  ): Promise<Analytics> {
    await this.#videos.get(workspaceId, videoId);
    return this.#figures({ videoId }, period, options);
  }

  /** Reads one state of the database: a roll-up can end between two queries. */
  async #figures(subject: Subject, period: UsagePeriod, { byDay }: Options): Promise<Analytics> {
    const shownDays = byDay ? everyDay(period) : [];
    const days = outerDays(period);
    const snapshot = this.#db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
    const { figures, counts, parts } = await snapshot.execute(async (trx) => ({
      figures: await findFigures(trx, subject, days),
      counts: await findCounts(trx, subject, days),
      parts: 'videoId' in subject ? await findRetention(trx, subject.videoId, days) : undefined,
    }));
    const named = (kind: string) => counts.filter((each) => each.kind === kind);
    const ofDay = new Map(figures.map((each) => [each.day, each]));
    const total = totals(figures);
    return {
      period: { from: period.from.toISOString(), to: period.to.toISOString() },
      ...total,
      startupTime: startupTimes(named('startup')),
      renditions: named('renditions').map(({ name, count }) => ({
        rendition: name,
        watchSeconds: seconds(count),
      })),
      errors: named('errors').map(({ name, count }) => ({ code: name, playbacks: count })),
      devices: named('devices').map(({ name, count }) => ({ device: name, views: count })),
      countries: named('countries').map(({ name, count }) => ({ country: name, views: count })),
      ...(parts && {
        retention: total.views === 0 ? [] : parts.map((part) => percentage(part, total.views)),
      }),
      ...(byDay && { days: shownDays.map((day) => ({ date: day, ...totals([ofDay.get(day)]) })) }),
    } as Analytics;
  }
}

/** The figures of days in the units of the API. A day without figures has none. */
function totals(days: readonly (FiguresOfDay | undefined)[]) {
  const sum = (figure: Exclude<keyof FiguresOfDay, 'day'>) =>
    days.reduce((total, day) => total + (day?.[figure] ?? 0), 0);
  const views = sum('views');
  return {
    views,
    uniqueViewers: sum('uniqueViewers'),
    watchSeconds: seconds(sum('watchMs')),
    averagePercentage: views === 0 ? null : percentage(sum('watchedParts') / PARTS, views),
    stalls: { count: sum('stalls'), seconds: seconds(sum('stallMs')) },
  };
}

function startupTimes(counts: readonly NamedCount[]): Analytics['startupTime'] {
  const byClass = new Map(counts.map(({ name, count }) => [Number(name), count]));
  return { p50: startupPercentile(byClass, 0.5), p95: startupPercentile(byClass, 0.95) };
}

/** Milliseconds in seconds, to three places. */
function seconds(milliseconds: number): number {
  return Math.round(milliseconds) / 1000;
}

/** A share in percent, to one place. */
function percentage(part: number, whole: number): number {
  return Math.round((part / whole) * 1000) / 10;
}
