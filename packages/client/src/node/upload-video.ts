import type { FramelaneClient } from '../client.ts';
import type { UploadReceipt, UploadTicketRequest } from '../contract.ts';
import { unwrap } from '../unwrap.ts';
import type { UploadOptions } from '../upload.ts';
import { upload } from './upload.ts';
import { nameOf, sizeOf, type UploadSource } from './upload-source.ts';

/**
 * Makes a video and sends its file, with the name and size that the file has unless `fields` says otherwise; a stream
 * has neither, and needs a `filename`. Throws as `upload` and `unwrap` do. A video whose upload broke off fails when its
 * ticket expires.
 */
export async function uploadVideo(
  client: FramelaneClient,
  source: UploadSource,
  fields: Partial<UploadTicketRequest> = {},
  options: UploadOptions = {},
): Promise<UploadReceipt> {
  const filename = fields.filename ?? nameOf(source);
  if (filename === undefined) throw new TypeError('What is uploaded has no name: give it a filename.');
  const size = await sizeOf(source);
  const body = { ...(size !== null && { size }), ...fields, filename };
  const signal = options.signal ?? null;
  const ticket = await unwrap(client.POST('/videos/upload-ticket', { body, signal }));
  return upload(source, ticket, options);
}
