import type { ObjectStore } from '@framelane/object-store/object-store';
import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { MaintenanceSteps } from './background/maintenance.ts';
import type { Services } from './services.ts';
import { abortStaleUploads } from './upload-tickets/stale-uploads.ts';
import type { WorkAfterCommit } from './work-after-commit.ts';

const HALF_MINUTE = 30;
const HOUR = 3600;
const DAY = 24 * HOUR;

/** The steps of maintenance. Those that find lost work are due every `maintenanceSeconds`. */
export function maintenanceSteps(
  deps: Services & WorkAfterCommit & { objects: ObjectStore; maintenanceSeconds: number },
): MaintenanceSteps {
  const { objects, videos, tickets, imports, commands, webhookDeliveries, idempotency, resealing } = deps;
  const often = deps.maintenanceSeconds;
  return {
    'expire-tickets': { everySeconds: often, run: () => tickets.expireUnused() },
    'expire-imports': { everySeconds: often, run: () => imports.expire() },
    'remove-outdated-videos': { everySeconds: often, run: () => videos.removeOutdated() },
    'delete-due-sources': { everySeconds: often, run: () => videos.deleteDueSources() },
    'end-expired-tasks': { everySeconds: often, run: () => deps.tasks.endExpired() },
    'reissue-lost-commands': {
      everySeconds: often,
      run: () => forEachSettled(commands, (each) => each.reissueLost()),
    },
    'abort-stale-uploads': { everySeconds: HOUR, run: () => abortStaleUploads(objects, tickets) },
    'prune-watermarks': { everySeconds: HOUR, run: () => deps.watermarks.prune() },
    'prune-idempotency-keys': { everySeconds: HOUR, run: () => idempotency.prune() },
    'prune-console-sessions': { everySeconds: HOUR, run: () => deps.consoleSessions.prune() },
    'prune-engines': { everySeconds: HOUR, run: () => deps.engines.prune() },
    'record-stored-bytes': { everySeconds: HOUR, run: () => deps.usage.recordStored() },
    'roll-up-views': { everySeconds: HALF_MINUTE, run: () => deps.viewRollUp.rollUp() },
    'keep-view-days': { everySeconds: HOUR, run: () => deps.viewRollUp.keepDays() },
    'reseal-secrets': { everySeconds: HOUR, run: () => resealing.reseal() },
    'prune-webhook-events': { everySeconds: DAY, run: () => webhookDeliveries.prune() },
    'keep-request-days': { everySeconds: HOUR, run: () => deps.requestLog.keepDays() },
    'prune-audit-events': { everySeconds: DAY, run: () => deps.audit.prune() },
    'prune-tombstones': { everySeconds: DAY, run: () => videos.pruneTombstones() },
  };
}
