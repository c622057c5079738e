import type { UploadReceipt, UploadTicket } from './contract.ts';
import { refusal } from './framelane-error.ts';

/** What an upload needs of a ticket. It may be handed to a browser: it is good for one file. */
export type UploadPermit = Pick<UploadTicket, 'uploadUrl' | 'uploadToken'>;

/** Bytes of the file. */
export type UploadProgress = {
  sent: number;
  /** Null for a stream, whose end is not known before it comes. */
  total: number | null;
};

export type UploadOptions = {
  onProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Breaks the upload off; its reason is thrown. The ticket can be used again. */
  signal?: AbortSignal | undefined;
};

/** What the engine said to an upload. Throws a FramelaneError if it refused it. */
export function readReceipt(status: number, requestId: string | null, text: string): UploadReceipt {
  const body = parse(text);
  if (status !== 202) throw refusal(status, requestId, body);
  return body as UploadReceipt;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
