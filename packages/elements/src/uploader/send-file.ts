import { uploadVideo } from '@framelane/client/browser';
import type { Ticket } from './request-ticket.ts';
import type { Send } from './upload-queue.ts';

/**
 * Sends files with tickets that `getTicket` requests. All of them are sent as resumable uploads, so that they can be paused, and continue after a
 * reload of the page.
 */
export function sender(getTicket: (file: File) => Promise<Ticket>): Send {
  return (file, { signal, onTicket, onProgress }) =>
    uploadVideo(file, () => getTicket(file), {
      signal,
      resumableAbove: 0,
      // The client keeps the whole ticket, with the members of the page's server.
      onTicket: (ticket) => onTicket(ticket as Ticket),
      onProgress: ({ sent }) => onProgress(sent),
    });
}
