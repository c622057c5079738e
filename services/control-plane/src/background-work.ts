import { DueLoop } from './background/due-loop.ts';
import { Maintenance } from './background/maintenance.ts';
import { findLastBackup } from './backups/backup-state.store.ts';
import type { ControlPlaneConfig } from './config.ts';
import type { Infrastructure } from './infrastructure.ts';
import { maintenanceSteps } from './maintenance-steps.ts';
import { StateMetrics } from './metrics/state-metrics.ts';
import type { Services } from './services.ts';
import type { WorkAfterCommit } from './work-after-commit.ts';

/** Builds the maintenance and the metrics of all background work. `loops` of the result includes those of the work after commits. */
export function createBackgroundWork(
  config: ControlPlaneConfig,
  infrastructure: Infrastructure,
  services: Services,
  workAfterCommit: WorkAfterCommit,
) {
  const { bus, objects, pool, db, logger, tracing, metrics } = infrastructure;
  const { attempts, tasks, imports, resealing } = services;
  const { commands, purges, webhookDeliveries, loops } = workAfterCommit;
  const { maintenanceSeconds, pollSeconds } = config;
  const steps = maintenanceSteps({ ...services, ...workAfterCommit, objects, maintenanceSeconds });
  const maintenance = new Maintenance({ db, logger, metrics, steps });
  const stateMetrics = new StateMetrics(metrics.registry, {
    pool,
    bus,
    attempts,
    tasks,
    imports,
    background: [...commands, purges, maintenance],
    webhookDeliveries,
    resealing,
    lastBackup: () => findLastBackup(db),
    logger,
  });
  return {
    commands,
    purges,
    maintenance,
    stateMetrics,
    /** One loop for each kind of background work. */
    loops: [...loops, new DueLoop(maintenance, { pollSeconds, logger, tracing })],
  };
}
