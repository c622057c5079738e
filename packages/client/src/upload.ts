import type { UploadReceipt, UploadTicket } from './contract.ts';
import { errorOf } from './framelane-error.ts';

/** The part of a ticket that an upload needs. A browser can have it: it is valid for one file. */
export type UploadPermit = Pick<UploadTicket, 'uploadUrl' | 'uploadToken'>;

/** Bytes of the file. */
export type UploadProgress = {
  sent: number;
  /** Null for a stream, whose size is unknown. */
  total: number | null;
};

export type UploadOptions = {
  onProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Aborts the upload. Its reason is thrown. The ticket stays valid. */
  signal?: AbortSignal | undefined;
};

/** Reads the engine's response to an upload. Throws a FramelaneError if it is an error. */
export function readReceipt(status: number, requestId: string | null, text: string): UploadReceipt {
  const body = parse(text);
  if (status !== 202) throw errorOf(status, requestId, body);
  return body as UploadReceipt;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
