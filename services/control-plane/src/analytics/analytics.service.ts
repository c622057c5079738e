import type { components } from '@framelane/openapi/types';
import type { Database } from '../db/database.ts';
import { everyDay, outerDays, type UsagePeriod } from '../usage/usage-period.ts';
import type { VideosService } from '../videos/videos.service.ts';
import {
  type FiguresOfDay,
  findCounts,
  findFigures,
  findRetention,
  findTopVideos,
  type NamedCount,
  type Subject,
} from './analytics.store.ts';
import { startupPercentile } from './startup-times.ts';
import { PARTS } from './watched-parts.ts';

/** The figures of a workspace or a video; those of a video have `retention`. */
export type Analytics = components['schemas']['Analytics'];

type Options = { byDay: boolean };

/** The videos of a workspace with the most views that a report has. */
const TOP_VIDEOS = 10;

/** Reports what was watched. */
export class AnalyticsService {
  readonly #db: Database;
  readonly #videos: VideosService;
  readonly #enabled: boolean;

  /** `enabled`: whether viewers are counted now. */
  constructor({ db, videos, enabled }: { db: Database; videos: VideosService; enabled: boolean }) {
    this.#db = db;
    this.#videos = videos;
    this.#enabled = enabled;
  }

  /**
   * The figures of all videos of a workspace in one environment, with the most watched ones, whose titles only some may read. Throws 400 for too many
   * days in a report by day.
   */
  ofWorkspace(
    subject: Extract<Subject, { workspaceId: string }>,
    period: UsagePeriod,
    options: Options & { showsTitles: boolean },
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
  async #figures(
    subject: Subject,
    period: UsagePeriod,
    { byDay, showsTitles = false }: Options & { showsTitles?: boolean },
  ): Promise<Analytics> {
    const shownDays = byDay ? everyDay(period) : [];
    const days = outerDays(period);
    const snapshot = this.#db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
    const { figures, counts, parts, top } = await snapshot.execute(async (trx) => ({
      figures: await findFigures(trx, subject, days),
      counts: await findCounts(trx, subject, days),
      parts: 'videoId' in subject ? await findRetention(trx, subject.videoId, days) : undefined,
      top: 'videoId' in subject ? undefined : await findTopVideos(trx, subject, days, TOP_VIDEOS),
    }));
    const named = (kind: string) => counts.filter((each) => each.kind === kind);
    const ofDay = new Map(figures.map((each) => [each.day, each]));
    const total = totals(figures);
    return {
      enabled: this.#enabled,
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
      ...(top && {
        topVideos: top.map(({ videoId, title, views, watchMs, watchedParts }) => ({
          videoId,
          title: showsTitles ? title : null,
          views,
          watchSeconds: seconds(watchMs),
          averagePercentage: averagePercentage(watchedParts, views),
        })),
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
    averagePercentage: averagePercentage(sum('watchedParts'), views),
    stalls: { count: sum('stalls'), seconds: seconds(sum('stallMs')) },
  };
}

/** How much of a video a view includes on average; null without views. `watchedParts`: see `FiguresOfDay`. */
function averagePercentage(watchedParts: number, views: number): number | null {
  return views === 0 ? null : percentage(watchedParts / PARTS, views);
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
