import { createMessage } from '@framelane/contracts/messages';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { AttemptsService } from '../attempts/attempts.service.ts';
import type { UploadTicketsService } from '../upload-tickets/upload-tickets.service.ts';
import type { VideosService } from '../videos/videos.service.ts';
import type { Tasks } from './job-runner.ts';

/** An unfinished upload this old belongs to no living transfer. */
const STALE_UPLOAD_MS = 48 * 3600 * 1000;

/** What each background job does. */
export function createTasks(deps: {
  bus: MessageBus;
  objects: ObjectStore;
  videos: VideosService;
  tickets: UploadTicketsService;
  attempts: AttemptsService;
}): Tasks {
  const { bus, objects, videos, tickets, attempts } = deps;
  return {
    'publish-transcode': (command) => bus.publish(createMessage('transcode', command)),
    'purge-objects': (purge) => videos.purge(purge),
    reconcile: async () => {
      await tickets.expireUnused();
      await videos.removeOutdated();
      await attempts.reconcile();
    },
    'abort-stale-uploads': async () => {
      await objects.abortStaleUploads(new Date(Date.now() - STALE_UPLOAD_MS));
    },
  };
}
