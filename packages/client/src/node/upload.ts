import type { UploadReceipt } from '../contract.ts';
import { IDLE_TIMEOUT_MS, resumablePermit, type Send, uploadResumably } from '../resumable-upload.ts';
import { readReceipt, type UploadOptions, type UploadPermit } from '../upload.ts';
import { exchange } from './exchange.ts';
import { formAround } from './form.ts';
import { bytesOf, modifiedOf, nameOf, sizeOf, type UploadSource } from './upload-source.ts';

/** The engine can wait ten minutes for its storage before it responds to a form. A connection without data for longer is dead. */
const FORM_IDLE_TIMEOUT_MS = 11 * 60_000;

/**
 * Sends a file to the engine, in constant memory. Resolves when it is stored. Framelane checks later whether it is a video.
 * Above 64 MiB the upload is resumable, if the size is known and the permit is a whole ticket. A resumable upload survives lost
 * connections, and a later call with the same ticket continues it. Throws a FramelaneError if the engine responds with an error, which it
 * can at any time, or the connection fails. The ticket stays valid unless the code is `upload_token_…`.
 */
export async function upload(
  source: UploadSource,
  permit: UploadPermit,
  options: UploadOptions = {},
): Promise<UploadReceipt> {
  const size = await sizeOf(source);
  options.signal?.throwIfAborted();
  const resumable = resumablePermit(size, permit, options);
  if (resumable === undefined || size === null) return uploadForm(source, size, permit, options);
  const file = { size, name: nameOf(source), modified: await modifiedOf(source) };
  const send: Send = ({ start, onSent, ...request }) => {
    const body =
      start === undefined ? undefined : { bytes: bytesOf(source, size, start), size: size - start, onSent };
    return exchange({ ...request, idleMs: IDLE_TIMEOUT_MS }, body, options.signal);
  };
  return uploadResumably(file, resumable, options, send);
}

async function uploadForm(
  source: UploadSource,
  size: number | null,
  { uploadUrl, uploadToken }: UploadPermit,
  { onProgress, signal }: UploadOptions,
): Promise<UploadReceipt> {
  const { contentType, head, tail } = formAround(nameOf(source) ?? 'file');
  const bytes = bytesOf(source, size);
  const onSent = (sent: number) => onProgress?.({ sent, total: size });
  const { status, header, body } = await exchange(
    {
      url: uploadUrl,
      method: 'POST',
      headers: { 'X-Upload-Token': uploadToken, 'Content-Type': contentType },
      idleMs: FORM_IDLE_TIMEOUT_MS,
    },
    { bytes, size, head, tail, onSent },
    signal,
  );
  return readReceipt(status, header('x-request-id'), body);
}
