import { createMessage } from '@framelane/contracts/messages';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import { transferOf } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { forEachSettled } from '@framelane/service-kit/for-each-settled';
import type { Logger } from '@framelane/service-kit/logger';
import type { AttemptsService } from '../attempts/attempts.service.ts';
import { MAX_TRIES } from '../db/jobs.ts';
import type { IdempotencyService } from '../idempotency/idempotency.service.ts';
import type { Metrics, ReconcileStep } from '../metrics/metrics.ts';
import type { ResealingService } from '../sealed-values/resealing.service.ts';
import type { UploadTicketsService } from '../upload-tickets/upload-tickets.service.ts';
import type { VideosService } from '../videos/videos.service.ts';
import type { WebhookDeliveriesService } from '../webhooks/deliveries.service.ts';
import type { JobRunner, Tasks } from './job-runner.ts';

/** When an unfinished upload is looked at; it may be in the middle of a slow transfer even then. */
const STALE_UPLOAD_MS = 48 * 3600 * 1000;

/** The jobs that come by the clock. */
export const CRONTAB = [
  ['17 * * * *', 'abort-stale-uploads'],
  ['41 3 * * *', 'prune-webhook-events'],
  ['53 * * * *', 'prune-idempotency-keys'],
  ['29 4 * * *', 'prune-tombstones'],
  ['7 * * * *', 'reseal-secrets'],
]
  // With a key of its own, so that one that fails is replaced by the next.
  .map(([time, task]) => `${time} ${task} ?jobKey=${task}&max=${MAX_TRIES}`)
  .join('\n');

/** What each background job does that is no purge. */
export function createTasks(deps: {
  bus: MessageBus;
  objects: ObjectStore;
  logger: Logger;
  metrics: Metrics;
  jobs: JobRunner;
  videos: VideosService;
  tickets: UploadTicketsService;
  attempts: AttemptsService;
  webhookDeliveries: WebhookDeliveriesService;
  idempotency: IdempotencyService;
  resealing: ResealingService;
}): Omit<Tasks, keyof PurgeTasks> {
  const { bus, objects, logger, metrics, jobs, videos, tickets, attempts, webhookDeliveries } = deps;
  const { idempotency, resealing } = deps;
  return {
    'publish-transcode': (command) => bus.publish(createMessage('transcode', command)),
    reconcile: () =>
      reconcile(
        {
          'free-abandoned-jobs': () => jobs.freeAbandonedJobs(),
          'hasten-retries': () => jobs.hastenRetries(),
          'expire-tickets': () => tickets.expireUnused(),
          'remove-outdated-videos': () => videos.removeOutdated(),
          'end-silent-attempts': () => attempts.endSilent(),
          'reissue-lost-commands': () => attempts.reissueLost(),
        },
        { logger, metrics },
      ),
    'abort-stale-uploads': async () => {
      await objects.abortStaleUploads(new Date(Date.now() - STALE_UPLOAD_MS), async (key) => {
        const transfer = transferOf(key);
        return transfer !== null && tickets.isWanted(transfer);
      });
    },
    'prune-webhook-events': () => webhookDeliveries.prune(),
    'prune-idempotency-keys': () => idempotency.prune(),
    'prune-tombstones': () => videos.pruneTombstones(),
    'reseal-secrets': () => resealing.reseal(),
  };
}

/** Takes every step, whatever becomes of the others. Rejects when any failed, so that the job is tried again soon. */
async function reconcile(
  steps: Record<ReconcileStep, () => Promise<void>>,
  { logger, metrics }: { logger: Logger; metrics: Metrics },
): Promise<void> {
  await forEachSettled(Object.entries(steps), async ([step, take]) => {
    try {
      await take();
    } catch (error) {
      logger.error('reconcile.step_failed', { step, error });
      metrics.reconcileStepFailed(step as ReconcileStep);
      throw error;
    }
  });
}

type PurgeTasks = Pick<Tasks, 'purge-objects'>;

/** Purges get workers of their own: one takes minutes when the storage does not answer, and there may be many. */
export function createPurgeTasks(videos: VideosService): PurgeTasks {
  return { 'purge-objects': (purge) => videos.purge(purge) };
}
