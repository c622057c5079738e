// biome-ignore-all lint/performance/noBarrelFile: what a published package exports is one module.
import type { UploadReceipt } from './contract.ts';
import { connectionFailed } from './framelane-error.ts';
import { readReceipt, type UploadOptions, type UploadPermit } from './upload.ts';

export { FramelaneError } from './framelane-error.ts';
export type { UploadOptions, UploadPermit, UploadProgress } from './upload.ts';

/** As much of it as an upload takes; the types of browsers would be there for all of Framelane. */
declare class XMLHttpRequest {
  readonly upload: { onprogress: ((event: { loaded: number }) => void) | null };
  readonly status: number;
  readonly responseText: string;
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getResponseHeader(name: string): string | null;
  send(body: FormData): void;
  abort(): void;
}

/**
 * Sends a file from a web page to the engine. Resolves when it is safe there; whether it is a video turns out later, in
 * its record. Throws a FramelaneError if the engine refuses it or the connection is lost; the ticket can be used again
 * unless the code is `upload_token_…`.
 */
export async function upload(
  file: Blob,
  { uploadUrl, uploadToken }: UploadPermit,
  { onProgress, signal }: UploadOptions = {},
): Promise<UploadReceipt> {
  signal?.throwIfAborted();
  const form = new FormData();
  form.append('file', file);
  // Not fetch: it does not tell how much has been sent.
  const request = new XMLHttpRequest();
  request.open('POST', uploadUrl);
  request.setRequestHeader('X-Upload-Token', uploadToken);
  request.upload.onprogress = ({ loaded }) => {
    // The form around the file counts, too.
    onProgress?.({ sent: Math.min(loaded, file.size), total: file.size });
  };
  const abort = () => request.abort();
  signal?.addEventListener('abort', abort);
  try {
    await new Promise<void>((resolve, reject) => {
      request.onload = () => resolve();
      request.onerror = () => reject(connectionFailed(uploadUrl));
      request.onabort = () => reject(signal?.reason);
      request.send(form);
    });
    return readReceipt(request.status, request.getResponseHeader('x-request-id'), request.responseText);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
