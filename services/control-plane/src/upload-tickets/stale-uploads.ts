import { transferOf } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { UploadTicketsService } from './upload-tickets.service.ts';

/** Age at which an unfinished upload to the object store counts as stale, unless its transfer may continue. */
const STALE_UPLOAD_MS = 48 * 3600 * 1000;

/** Aborts stale multipart uploads, except those of transfers that may continue. */
export async function abortStaleUploads(
  objects: Pick<ObjectStore, 'abortStaleUploads'>,
  tickets: Pick<UploadTicketsService, 'mayContinue'>,
): Promise<void> {
  await objects.abortStaleUploads(new Date(Date.now() - STALE_UPLOAD_MS), async (key) => {
    const transfer = transferOf(key);
    return transfer !== null && tickets.mayContinue(transfer);
  });
}
