import { Problem } from '@framelane/service-kit/problem';
import type { FoundTicket } from './upload-tickets.store.ts';

/** `Retry-After` of `too_many_uploads`, in seconds. */
const RETRY_SHARE_SECONDS = 10;

/** Uploads in progress of a workspace: their number, and their bytes in total. */
export type UploadShare = { count: number; bytes: number };

/** Whether the latest claim of the ticket has this id. */
export function isClaimedBy(ticket: FoundTicket, claimId: string): boolean {
  return ticket.claim_id === claimId;
}

/** The ticket, if this claim can lease it now or has leased it; throws the Problem that says why it cannot. */
export function requireClaimable(found: FoundTicket | undefined, claimId: string): FoundTicket {
  const ticket = requireUnspent(found);
  if (!isClaimedBy(ticket, claimId)) return requireUsable(ticket);
  // A late repeat, after the transfer has ended: nobody waits for the response.
  if (!ticket.is_leased) throw uploadInProgress();
  return ticket;
}

/** The ticket, if it can be leased now; throws the Problem that says why it cannot. */
export function requireUsable(found: FoundTicket | undefined): FoundTicket {
  const ticket = requireUnspent(found);
  if (ticket.is_leased) throw uploadInProgress();
  return ticket;
}

/** The ticket, if it accepts a file now or after its transfer has ended; throws the Problem that says why it does not. */
export function requireUnspent(ticket: FoundTicket | undefined): FoundTicket {
  if (ticket === undefined) throw tokenInvalid();
  if (ticket.used_at !== null) {
    throw new Problem(
      'upload_token_used',
      'This upload token has been used: the file has arrived. For another file, request a new upload ticket.',
    );
  }
  if (ticket.is_expired && !ticket.is_leased) throw ticketExpired();
  return ticket;
}

export function tokenInvalid(): Problem {
  return new Problem(
    'upload_token_invalid',
    'This upload token does not exist. Request a new upload ticket.',
  );
}

export function uploadInProgress(): Problem {
  return new Problem(
    'upload_in_progress',
    'Another upload with this token is in progress. Wait for it to end, or request a new upload ticket.',
  );
}

/** More uploads were created with one token than any client needs. */
export function tokenExhausted(limit: number): Problem {
  return new Problem(
    'upload_token_exhausted',
    `${limit} uploads have been created with this token. Request a new upload ticket.`,
  );
}

function tooManyUploads({ count, bytes }: { count: number; bytes: number }): Problem {
  return new Problem(
    'too_many_uploads',
    `A workspace can have ${count} uploads of ${bytes} bytes in total at the same time. Retry when one has ended; the token stays valid.`,
    { headers: { 'Retry-After': String(RETRY_SHARE_SECONDS) } },
  );
}

/** The ticket expired before its file was stored. */
export function ticketExpired(): Problem {
  return new Problem('upload_token_expired', 'This upload token has expired. Request a new upload ticket.');
}

/** No video waits for the file of this transfer. */
export function uploadCancelled(): Problem {
  return new Problem(
    'upload_cancelled',
    'The video was deleted during the upload, or the ticket expired or is used by another upload.',
  );
}

/**
 * Whether a workspace has room for one more upload of `bytes`. The first upload is always allowed, so that a file of the maximum size can
 * be sent.
 */
export function hasShare(inProgress: UploadShare, bytes: number, limits: UploadShare): boolean {
  if (inProgress.count === 0) return true;
  return inProgress.count < limits.count && inProgress.bytes + bytes <= limits.bytes;
}

/** Throws a 429 Problem when a workspace has no room for one more upload of `bytes`. */
export function requireShare(inProgress: UploadShare, bytes: number, limits: UploadShare): void {
  if (!hasShare(inProgress, bytes, limits)) throw tooManyUploads(limits);
}

export function fileTooLarge(maxBytes: number): Problem {
  return new Problem('file_too_large', `The file is too large. Send at most ${maxBytes} bytes.`, {
    extra: { maxBytes },
  });
}
