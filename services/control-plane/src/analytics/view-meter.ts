import type { Logger } from '@framelane/service-kit/logger';
import { PeriodicWrite } from '../background/periodic-write.ts';
import type { Database } from '../db/database.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type RequestedSegment, rangeOf, segmentTimes } from './segment-times.ts';
import { nameOf, type Playback, unite, type ViewReport } from './view-report.ts';
import { addReports, findReportedVideos, findSegmentDurations } from './view-sessions.store.ts';
import { type WatchedRange, watchedParts } from './watched-parts.ts';

/** A playback that waits takes as much memory as so many ranges or segments. */
const RANGES_OF_PLAYBACK = 20;

/** What waits to be stored, in ranges: 50,000 playbacks of all workspaces, and a quarter of them of one. */
const MAX_WAITING = 50_000 * RANGES_OF_PLAYBACK;
const MAX_WAITING_OF_WORKSPACE = MAX_WAITING / 4;

/** Playbacks that one statement stores. */
const BATCH = 2000;

/** Ranges, and segments, that are kept of one playback until they are stored. */
const MAX_RANGES = 500;

type Deps = { db: Database; logger: Logger; metrics: Metrics; flushSeconds: number };

/**
 * Unites the reports of viewers in memory, and stores them every few seconds and at the stop, so that no request waits for it. A killed process
 * loses what it has not stored. Storing something twice changes nothing.
 */
export class ViewMeter {
  readonly #deps: Deps;
  #waiting = new Map<string, ViewReport>();
  /** The size of what waits. */
  #size = 0;
  /** The size of what waits of each workspace that players have named, whether it exists or not. */
  #ofWorkspaces = new Map<string, number>();
  readonly #storing: PeriodicWrite;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#storing = new PeriodicWrite(() => this.#write(), deps.flushSeconds);
  }

  /** Keeps a report, unless too many playbacks wait. */
  add(report: ViewReport): void {
    this.#deps.metrics.viewReported(this.#keep(report) ? 'accepted' : 'dropped');
  }

  /** Adds a segment to a playback that waits. False if it does not wait. */
  addSegment(playback: Playback, segment: RequestedSegment): boolean {
    const known = this.#waiting.get(nameOf(playback));
    if (known === undefined) return false;
    const hasRoom = known.segments.length < MAX_RANGES && this.#grow(playback.workspaceId, 1);
    if (hasRoom) known.segments.push(segment);
    this.#deps.metrics.viewReported(hasRoom ? 'accepted' : 'dropped');
    return true;
  }

  /** Starts storing. */
  start(): void {
    this.#storing.start();
  }

  /** Stores what waits. Call it when all responses have ended. */
  stop(): Promise<void> {
    return this.#storing.stop();
  }

  /** Resolves after an attempt to store everything that was reported before the call. */
  flush(): Promise<void> {
    return this.#storing.flush();
  }

  #keep(report: ViewReport): boolean {
    const name = nameOf(report);
    const before = this.#waiting.get(name);
    const united = before === undefined ? report : unite(before, report);
    if (united.watched.length > MAX_RANGES || united.segments.length > MAX_RANGES) return false;
    const growth = sizeOf(united) - (before === undefined ? 0 : sizeOf(before));
    if (!this.#grow(report.workspaceId, growth)) return false;
    this.#waiting.set(name, united);
    return true;
  }

  /** Takes room for what a workspace adds. False if there is none. */
  #grow(workspaceId: string, growth: number): boolean {
    const size = this.#size + growth;
    const ofWorkspace = (this.#ofWorkspaces.get(workspaceId) ?? 0) + growth;
    if (size > MAX_WAITING || ofWorkspace > MAX_WAITING_OF_WORKSPACE) return false;
    this.#size = size;
    this.#ofWorkspaces.set(workspaceId, ofWorkspace);
    return true;
  }

  async #write(): Promise<void> {
    const reports = [...this.#waiting.values()];
    this.#waiting = new Map();
    this.#size = 0;
    this.#ofWorkspaces = new Map();
    for (let at = 0; at < reports.length; at += BATCH) {
      const batch = reports.slice(at, at + BATCH);
      try {
        await this.#store(batch);
      } catch (error) {
        // What has arrived meanwhile has the room first.
        for (const report of batch) this.#keep(report);
        this.#deps.logger.warn('analytics.reports_not_stored', { playbacks: batch.length, error });
      }
    }
  }

  /** Reports of videos that do not exist, or belong to another workspace, are dropped. */
  async #store(reports: readonly ViewReport[]): Promise<void> {
    const { db } = this.#deps;
    const [videos, times] = await Promise.all([
      findReportedVideos(db, [...new Set(reports.map(({ videoId }) => videoId))]),
      this.#timesOf(reports),
    ]);
    const known = reports.flatMap((report) => {
      const video = videos.get(report.videoId);
      if (video === undefined || video.workspaceId !== report.workspaceId) return [];
      const covered = (segments: readonly RequestedSegment[]) =>
        segments.flatMap((segment): WatchedRange[] => {
          const range = rangeOf(segment, times.get(`${report.videoId} ${segment.rendition}`) ?? []);
          return range === undefined ? [] : [range];
        });
      const starved = report.segments.filter((segment) => segment.starved);
      return {
        ...report,
        parts: watchedParts([...report.watched, ...covered(report.segments)], video.duration),
        stalledParts: watchedParts(covered(starved).map(atItsStart), video.duration).all,
      };
    });
    await addReports(db, known);
  }

  /** The times of the segments, by video and rendition. */
  async #timesOf(reports: readonly ViewReport[]): Promise<Map<string, number[]>> {
    const names = new Map(
      reports.flatMap(({ videoId, segments }) =>
        segments.map(({ rendition }) => [`${videoId} ${rendition}`, { videoId, rendition }] as const),
      ),
    );
    if (names.size === 0) return new Map();
    const found = await findSegmentDurations(this.#deps.db, [...names.values()]);
    return new Map(
      found.map(({ videoId, rendition, durations }) => [`${videoId} ${rendition}`, segmentTimes(durations)]),
    );
  }
}

/** The memory of a report, in ranges. */
function sizeOf({ watched, segments }: ViewReport): number {
  return RANGES_OF_PLAYBACK + watched.length + segments.length;
}

/** An empty buffer is an interruption at one place, however long the segment is. */
function atItsStart({ from }: WatchedRange): WatchedRange {
  return { from, to: from + 0.001 };
}
