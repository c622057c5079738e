import { FramelaneError, uploadVideo } from '@framelane/client/browser';
import type { Ticket } from './request-ticket.ts';
import type { Send, SendHandlers } from './upload-queue.ts';

/**
 * Sends files with tickets that `getTicket` requests. All of them are sent as resumable uploads, so that they can be paused, and continue after a
 * reload of the page.
 */
export function sender(getTicket: (file: File) => Promise<Ticket>): Send {
  return async (file, handlers) => {
    await requireReadable(file);
    try {
      return await sendReadable(file, getTicket, handlers);
    } catch (error) {
      // For a request, a file that has changed is a lost connection.
      await requireReadable(file);
      throw error;
    }
  };
}

function sendReadable(
  file: File,
  getTicket: (file: File) => Promise<Ticket>,
  { signal, onTicket, onProgress }: SendHandlers,
): Promise<{ videoId: string }> {
  return uploadVideo(file, () => getTicket(file), {
    signal,
    resumableAbove: 0,
    // The client keeps the whole ticket, with the members of the page's server.
    onTicket: (ticket) => onTicket(ticket as Ticket),
    onProgress: ({ sent }) => onProgress(sent),
  });
}

/** Throws an error if the file was moved, deleted or changed since it was chosen: browsers then refuse to read it. */
async function requireReadable(file: File): Promise<void> {
  try {
    await file.slice(0, 1).arrayBuffer();
  } catch (cause) {
    throw new FramelaneError('The file cannot be read.', { code: 'file_unreadable', cause });
  }
}
