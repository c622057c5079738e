import type { Logger } from '@framelane/service-kit/logger';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import type { MaintenanceStep, Metrics } from '../metrics/metrics.ts';
import { type DueWork, RENEWED_CLAIM_SECONDS } from './due-loop.ts';
import {
  type ClaimedStep,
  claimDueSteps,
  findStepBacklog,
  insertSteps,
  releaseClaims,
  renewStepClaim,
  scheduleNextRun,
  scheduleStepNow,
} from './maintenance.store.ts';

/** What each step does, and the seconds between the end of a run and the next run. */
export type MaintenanceSteps = Record<MaintenanceStep, { everySeconds: number; run: () => Promise<void> }>;

type Deps = { db: Database; logger: Logger; metrics: Metrics; steps: MaintenanceSteps };

/**
 * Runs the periodic steps. Only one run of a step is in progress at a time, except after `scheduleNow`. A step that fails does not
 * delay the others.
 */
export class Maintenance implements DueWork<ClaimedStep> {
  readonly name = 'maintenance';
  /** Leaves most connections of the pool to requests, also at the start, when all steps are due. */
  readonly concurrency = 4;
  readonly #deps: Deps;
  readonly #names: MaintenanceStep[];

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#names = Object.keys(deps.steps) as MaintenanceStep[];
  }

  /** Adds the steps that the database does not know yet. */
  register(): Promise<void> {
    return insertSteps(this.#deps.db, this.#names);
  }

  /** Ends the claims of processes that died. Call it only while no control plane runs. */
  releaseClaims(): Promise<void> {
    return releaseClaims(this.#deps.db);
  }

  /** Schedules a run of a step for now. It can begin while an earlier run is still in progress. */
  scheduleNow(step: MaintenanceStep): Promise<void> {
    return scheduleStepNow(this.#deps.db, step);
  }

  claim(limit: number): Promise<ClaimedStep[]> {
    return claimDueSteps(this.#deps.db, { names: this.#names, limit, leaseSeconds: RENEWED_CLAIM_SECONDS });
  }

  renew(claimed: ClaimedStep): Promise<void> {
    return renewStepClaim(this.#deps.db, claimed, RENEWED_CLAIM_SECONDS);
  }

  /** Runs a step and schedules the next run. If the step fails, logs and counts the failure and retries within half a minute. */
  async perform(claimed: ClaimedStep): Promise<void> {
    const step = claimed.name as MaintenanceStep;
    const { everySeconds, run } = this.#deps.steps[step];
    try {
      await run();
    } catch (error) {
      this.#deps.logger.error('maintenance.step_failed', { step, error });
      this.#deps.metrics.maintenanceFailed(step);
      // Keeps the due time, which shows how late the step is. The step is retried when the claim expires.
      await renewStepClaim(this.#deps.db, claimed, Math.min(everySeconds, RENEWED_CLAIM_SECONDS));
      return;
    }
    await scheduleNextRun(this.#deps.db, claimed, everySeconds);
  }

  /** The due steps, including those in progress. */
  backlog(): Promise<Backlog> {
    return findStepBacklog(this.#deps.db, this.#names);
  }
}
