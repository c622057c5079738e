import type { FramelaneClient } from '../client.ts';
import type { UploadReceipt, UploadTicketRequest } from '../contract.ts';
import type { UploadOptions } from '../upload.ts';
import { upload } from './upload.ts';
import { nameOf, sizeOf, type UploadSource } from './upload-source.ts';

/**
 * Creates a video and uploads its file. Name and size default to those of the file. A Blob and a stream have no name, so they need a
 * `filename`. Throws a FramelaneError if the ticket or the upload fails. After a failed upload, the video fails when its ticket expires.
 */
export async function uploadVideo(
  client: FramelaneClient,
  source: UploadSource,
  fields: Partial<UploadTicketRequest> = {},
  options: UploadOptions = {},
): Promise<UploadReceipt> {
  const filename = fields.filename ?? nameOf(source);
  if (filename === undefined) throw new TypeError('The source has no name: set the field filename.');
  const size = await sizeOf(source);
  const body = { ...(size !== null && { size }), ...fields, filename };
  const ticket = await client.uploadTickets.create(body, { signal: options.signal });
  return upload(source, ticket, options);
}
