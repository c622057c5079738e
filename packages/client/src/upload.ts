import type { UploadReceipt, UploadTicket } from './contract.ts';
import { errorOf } from './framelane-error.ts';
import { parseBody } from './parse-body.ts';

/**
 * The part of a ticket that an upload needs. A browser can have it: it is valid for one file. Without `tusUrl` and `videoId`,
 * files of any size are sent as a form, which cannot be continued.
 */
export type UploadPermit = Pick<UploadTicket, 'uploadUrl' | 'uploadToken'> &
  Partial<Pick<UploadTicket, 'tusUrl' | 'videoId'>>;

/** Bytes of the file. */
export type UploadProgress = {
  /** It decreases only when bytes that were sent have not arrived. */
  sent: number;
  /** Null for a stream, whose size is unknown. */
  total: number | null;
};

export type UploadOptions = {
  onProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Aborts the upload. Its reason is thrown. The ticket stays valid: a later call continues a resumable upload. */
  signal?: AbortSignal | undefined;
  /**
   * How often a resumable upload is retried in a row without progress before the error is thrown. Default 12, which takes three to six
   * minutes.
   */
  retries?: number | undefined;
  /** Files with more bytes are sent as resumable uploads. Default 64 MiB. With 0 every file is, so any upload can be paused. */
  resumableAbove?: number | undefined;
};

/** Reads the engine's response to an upload. Throws a FramelaneError if it is an error. */
export function readReceipt(status: number, requestId: string | null, text: string): UploadReceipt {
  const body = parseBody(text);
  if (status !== 202 || typeof body === 'string') throw errorOf(status, requestId, body);
  return body as UploadReceipt;
}
