// biome-ignore-all lint/performance/noBarrelFile: what a published package exports is one module.
import type { UploadReceipt } from './contract.ts';
import { ConnectionError } from './framelane-error.ts';
import { readReceipt, type UploadOptions, type UploadPermit } from './upload.ts';

export { ApiError, ConnectionError, FramelaneError } from './framelane-error.ts';
export type { UploadOptions, UploadPermit, UploadProgress } from './upload.ts';

/** Only what an upload needs. The DOM types would apply to all packages of Framelane. */
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
 * Sends a file from a web page to the engine. Resolves when the engine has stored the file, whether it is a video or not. Throws
 * a FramelaneError if the engine responds with an error or the connection fails. The ticket stays valid unless the code is
 * `upload_token_…`.
 */
export async function upload(
  file: Blob,
  { uploadUrl, uploadToken }: UploadPermit,
  { onProgress, signal }: UploadOptions = {},
): Promise<UploadReceipt> {
  signal?.throwIfAborted();
  const form = new FormData();
  form.append('file', file);
  // fetch does not report upload progress.
  const request = new XMLHttpRequest();
  request.open('POST', uploadUrl);
  request.setRequestHeader('X-Upload-Token', uploadToken);
  request.upload.onprogress = ({ loaded }) => {
    // `loaded` includes the form around the file.
    onProgress?.({ sent: Math.min(loaded, file.size), total: file.size });
  };
  const abort = () => request.abort();
  signal?.addEventListener('abort', abort);
  try {
    await new Promise<void>((resolve, reject) => {
      request.onload = () => resolve();
      request.onerror = () => reject(new ConnectionError(uploadUrl));
      request.onabort = () => reject(signal?.reason);
      request.send(form);
    });
    return readReceipt(request.status, request.getResponseHeader('x-request-id'), request.responseText);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
