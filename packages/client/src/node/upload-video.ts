import type { FramelaneClient } from '../client.ts';
import type { UploadReceipt, UploadTicket, UploadTicketRequest } from '../contract.ts';
import { type KeptTicket, uploadWithKeptTicket } from '../kept-ticket.ts';
import type { UploadOptions } from '../upload.ts';
import { upload } from './upload.ts';
import { nameOf, sizeOf, type UploadSource } from './upload-source.ts';

export type UploadVideoOptions = UploadOptions & {
  /** Keeps the ticket until the file has arrived: a later call for the same file continues the upload, also after the end of the process. */
  keptTicket?: KeptTicket | undefined;
};

/**
 * Creates a video and uploads its file. Name and size default to those of the file. A Blob and a stream have no name, so they need a
 * `filename`. Throws a FramelaneError if the ticket or the upload fails. After a failed upload, the video fails when its ticket expires.
 */
export async function uploadVideo(
  client: FramelaneClient,
  source: UploadSource,
  fields: Partial<UploadTicketRequest> = {},
  { keptTicket, ...options }: UploadVideoOptions = {},
): Promise<UploadReceipt> {
  const filename = fields.filename ?? nameOf(source);
  if (filename === undefined) throw new TypeError('The source has no name: set the field filename.');
  const size = await sizeOf(source);
  const body = { ...(size !== null && { size }), ...fields, filename };
  const requestTicket = () => client.uploadTickets.create(body, { signal: options.signal });
  const send = (ticket: UploadTicket) => upload(source, ticket, options);
  // A stream cannot be read again.
  if (keptTicket === undefined || size === null) return send(await requestTicket());
  return uploadWithKeptTicket(size, keptTicket, requestTicket, send);
}
