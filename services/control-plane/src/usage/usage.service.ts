import type { components } from '@framelane/openapi/types';
import type { Database } from '../db/database.ts';
import type { Environment, VideoRow } from '../db/schema.ts';
import type { QuotasService } from '../quotas/quotas.service.ts';
import { addTranscoded, findStored, findUsage, recordStored, type UsageOfDay } from './usage.store.ts';
import { dayOf, everyDay, outerDays, type UsagePeriod } from './usage-period.ts';

/** The usage of a workspace in a period. */
export type UsageReport = components['schemas']['Usage'];

const UNUSED: Omit<UsageOfDay, 'day'> = { transcodedMs: 0, bandwidthBytes: 0, storageBytes: null };

/** Counts and reports the usage of workspaces. */
export class UsageService {
  readonly #db: Database;
  readonly #quotas: QuotasService;

  constructor({ db, quotas }: { db: Database; quotas: QuotasService }) {
    this.#db = db;
    this.#quotas = quotas;
  }

  /** Counts the seconds of a video that were transcoded, in the transaction that makes it ready, which happens once. */
  async countTranscode(
    trx: Database,
    video: Pick<VideoRow, 'workspace_id' | 'environment'>,
    seconds: number,
  ): Promise<void> {
    await addTranscoded(trx, video.workspace_id, video.environment, Math.round(seconds * 1000));
  }

  /** Records the stored bytes of every workspace as its storage of today. */
  async recordStored(): Promise<void> {
    await recordStored(this.#db);
  }

  /** The usage in a period, the present storage, and the quotas. Throws 400 for too many days in a report by day. */
  async report(
    workspaceId: string,
    environment: Environment,
    period: UsagePeriod,
    { byDay }: { byDay: boolean },
  ): Promise<UsageReport> {
    const shownDays = byDay ? everyDay(period) : [];
    const [usage, stored, limits] = await Promise.all([
      findUsage(this.#db, workspaceId, environment, outerDays(period)),
      findStored(this.#db, workspaceId, environment),
      this.#quotas.limits(workspaceId),
    ]);
    const today = dayOf(new Date());
    const usageOf = new Map(usage.map((each) => [each.day, each]));
    return {
      workspaceId,
      environment,
      period: { from: period.from.toISOString(), to: period.to.toISOString() },
      storageBytes: stored.bytes,
      videoCount: stored.videos,
      ...totals(usage),
      limits,
      ...(byDay && {
        days: shownDays.map((day) => {
          const ofDay = usageOf.get(day) ?? UNUSED;
          return {
            date: day,
            ...totals([ofDay]),
            storageBytes: day === today ? stored.bytes : ofDay.storageBytes,
          };
        }),
      }),
    };
  }
}

/** The totals in the units of the API: minutes with three decimals. */
function totals(usage: readonly Omit<UsageOfDay, 'day'>[]) {
  const sum = (measure: 'transcodedMs' | 'bandwidthBytes') =>
    usage.reduce((total, each) => total + each[measure], 0);
  return {
    transcodedMinutes: Math.round(sum('transcodedMs') / 60) / 1000,
    bandwidthBytes: sum('bandwidthBytes'),
  };
}
