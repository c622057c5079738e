import type { ObjectStore } from '@framelane/object-store/object-store';
import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { MaintenanceSteps } from './background/maintenance.ts';
import type { ConsoleSessionsService } from './console-sessions/console-sessions.service.ts';
import type { EnginesService } from './engines/engines.service.ts';
import type { IdempotencyService } from './idempotency/idempotency.service.ts';
import type { ImportsService } from './imports/imports.service.ts';
import type { ResealingService } from './sealed-values/resealing.service.ts';
import type { Commands } from './tasks/commands.service.ts';
import type { TasksService } from './tasks/tasks.service.ts';
import { abortStaleUploads } from './upload-tickets/stale-uploads.ts';
import type { UploadTicketsService } from './upload-tickets/upload-tickets.service.ts';
import type { UsageService } from './usage/usage.service.ts';
import type { VideosService } from './videos/videos.service.ts';
import type { WebhookDeliveriesService } from './webhooks/deliveries.service.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;

/** The steps of maintenance. Those that find lost work are due every `maintenanceSeconds`. */
export function maintenanceSteps(deps: {
  objects: ObjectStore;
  videos: VideosService;
  tickets: UploadTicketsService;
  imports: ImportsService;
  tasks: TasksService;
  commands: readonly Commands[];
  webhookDeliveries: WebhookDeliveriesService;
  usage: UsageService;
  idempotency: IdempotencyService;
  consoleSessions: ConsoleSessionsService;
  resealing: ResealingService;
  engines: EnginesService;
  maintenanceSeconds: number;
}): MaintenanceSteps {
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
    'prune-idempotency-keys': { everySeconds: HOUR, run: () => idempotency.prune() },
    'prune-console-sessions': { everySeconds: HOUR, run: () => deps.consoleSessions.prune() },
    'prune-engines': { everySeconds: HOUR, run: () => deps.engines.prune() },
    'record-stored-bytes': { everySeconds: HOUR, run: () => deps.usage.recordStored() },
    'reseal-secrets': { everySeconds: HOUR, run: () => resealing.reseal() },
    'prune-webhook-events': { everySeconds: DAY, run: () => webhookDeliveries.prune() },
    'prune-tombstones': { everySeconds: DAY, run: () => videos.pruneTombstones() },
  };
}
