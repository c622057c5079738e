import { setTimeout as pause } from 'node:timers/promises';
import type { UploadTicketRequest } from '@framelane/client';
import { upload } from '@framelane/client/node';
import type { Api } from './api.ts';

const RETRY_MS = 250;
const MAX_ATTEMPTS = 400;

/** Uploads a file as a new video while parts of the cluster are killed, and resolves with its id. */
export async function sendWithRetries(
  api: Api,
  path: string,
  fields: Partial<UploadTicketRequest> = { keepSource: 'always' },
): Promise<string> {
  const ticket = await withRetries(() => api.ticket(fields));
  await withRetries(() =>
    upload(path, ticket).catch((error: { code?: string }) => {
      // The response was lost, but the file is stored.
      if (error.code !== 'upload_token_used') throw error;
    }),
  );
  return ticket.videoId;
}

/** Retries while the cluster recovers. */
export async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
      await pause(RETRY_MS);
    }
  }
}
