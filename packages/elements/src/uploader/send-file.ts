import { FramelaneError, forgetUpload, uploadVideo } from '@framelane/client/browser';
import type { Ticket } from './request-ticket.ts';
import type { Send, SendHandlers } from './upload-queue.ts';

/** Where tickets come from. */
export type TicketSource = {
  getTicket: (file: File) => Promise<Ticket>;
  /** Uploads of one file to two scopes are two videos. */
  scope: () => string;
};

/**
 * Sends files with tickets that `getTicket` requests. All of them are sent as resumable uploads, so that they can be paused, and continue after a
 * reload of the page.
 */
export function sender({ getTicket, scope }: TicketSource): Send {
  const source = { getTicket: oncePerFile(getTicket), scope };
  return async (file, handlers) => {
    await requireReadable(file);
    // Each ticket is a video.
    handlers.signal.throwIfAborted();
    try {
      return await sendReadable(file, source, handlers);
    } catch (error) {
      // For a request, a file that has changed is a lost connection.
      await requireReadable(file);
      throw error;
    }
  };
}

/** Forgets the ticket of a file that was cancelled: the server may delete its video. */
export function forget(file: File, { scope }: TicketSource): void {
  forgetUpload(file, { scope: scope() });
}

/** A file that is paused and resumed before its ticket arrives needs only this one. */
function oncePerFile(getTicket: (file: File) => Promise<Ticket>): (file: File) => Promise<Ticket> {
  const requested = new WeakMap<File, Promise<Ticket>>();
  return (file) => {
    const ticket = requested.get(file) ?? getTicket(file).finally(() => requested.delete(file));
    requested.set(file, ticket);
    return ticket;
  };
}

function sendReadable(
  file: File,
  { getTicket, scope }: TicketSource,
  { signal, onTicket, onProgress }: SendHandlers,
): Promise<{ videoId: string }> {
  return uploadVideo(file, () => getTicket(file), {
    signal,
    resumableAbove: 0,
    scope: scope(),
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
