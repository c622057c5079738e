import type { Logger } from '@framelane/service-kit/logger';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import type { MaintenanceStep, Metrics } from '../metrics/metrics.ts';
import { type DueWork, RENEWED_CLAIM_SECONDS } from './due-loop.ts';
import {
  type ClaimedStep,
  claimDueSteps,
  findOverdueSteps,
  insertSteps,
  makeStepDue,
  releaseClaims,
  renewStepClaim,
  scheduleStep,
} from './maintenance.store.ts';

/** What each step does, and how many seconds after its end it is due again. */
export type MaintenanceSteps = Record<MaintenanceStep, { everySeconds: number; run: () => Promise<void> }>;

/**
 * Runs the periodic steps. Each is a due row: one control plane at a time runs it, and a failed step does not delay the
 * others.
 */
export class Maintenance implements DueWork<ClaimedStep> {
  readonly name = 'maintenance';
  readonly pollMs = 1000;
  readonly concurrency: number;
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #steps: MaintenanceSteps;
  readonly #names: MaintenanceStep[];

  constructor(deps: { db: Database; logger: Logger; metrics: Metrics; steps: MaintenanceSteps }) {
    this.#db = deps.db;
    this.#logger = deps.logger;
    this.#metrics = deps.metrics;
    this.#steps = deps.steps;
    this.#names = Object.keys(deps.steps) as MaintenanceStep[];
    this.concurrency = this.#names.length;
  }

  /** Adds the steps that the database does not know yet. */
  register(): Promise<void> {
    return insertSteps(this.#db, this.#names);
  }

  /** Ends the claims of processes that died. Call it only while no control plane runs. */
  releaseClaims(): Promise<void> {
    return releaseClaims(this.#db);
  }

  /** Makes a step due now. */
  makeDue(step: MaintenanceStep): Promise<void> {
    return makeStepDue(this.#db, step);
  }

  claim(): Promise<ClaimedStep[]> {
    return claimDueSteps(this.#db, this.#names, RENEWED_CLAIM_SECONDS);
  }

  renew(claimed: ClaimedStep): Promise<void> {
    return renewStepClaim(this.#db, claimed, RENEWED_CLAIM_SECONDS);
  }

  /** Runs a step and schedules its next run. A failure is logged and counted, and the step retried soon. */
  async perform(claimed: ClaimedStep): Promise<void> {
    const step = claimed.name as MaintenanceStep;
    const { everySeconds, run } = this.#steps[step];
    try {
      await run();
    } catch (error) {
      this.#logger.error('maintenance.step_failed', { step, error });
      this.#metrics.maintenanceFailed(step);
      // The step stays overdue, and is retried when this claim expires.
      await renewStepClaim(this.#db, claimed, Math.min(everySeconds, RENEWED_CLAIM_SECONDS));
      return;
    }
    await scheduleStep(this.#db, claimed, everySeconds);
  }

  /** The steps that are due and not done. */
  backlog(): Promise<Backlog> {
    return findOverdueSteps(this.#db, this.#names);
  }
}
