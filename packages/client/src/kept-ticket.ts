import type { UploadReceipt, UploadTicket } from './contract.ts';
import { FramelaneError } from './framelane-error.ts';
import { receiptOf } from './resumable-upload.ts';

/** Where the ticket of one file is kept until the file has arrived, so that a later call continues its upload. */
export type KeptTicket = {
  get(): UploadTicket | null | Promise<UploadTicket | null>;
  set(ticket: UploadTicket): void | Promise<void>;
  delete(): void | Promise<void>;
};

/** Sends a file of `size` bytes with the kept ticket, or with a new one, which it keeps. A ticket that is not valid any more is replaced. */
export async function uploadWithKeptTicket(
  size: number,
  kept: KeptTicket,
  requestTicket: () => Promise<UploadTicket>,
  send: (ticket: UploadTicket) => Promise<UploadReceipt>,
): Promise<UploadReceipt> {
  const former = await kept.get();
  const ticket = former ?? (await requestTicket());
  await kept.set(ticket);
  try {
    const receipt = await send(ticket);
    await kept.delete();
    return receipt;
  } catch (error) {
    const code = error instanceof FramelaneError ? error.code : '';
    if (!code.startsWith('upload_token_')) throw error;
    await kept.delete();
    if (former === null) throw error;
    // The program ended before it got the last response.
    if (code === 'upload_token_used') return receiptOf(ticket.videoId, size);
    return uploadWithKeptTicket(size, kept, requestTicket, send);
  }
}
