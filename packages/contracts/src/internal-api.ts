import { z } from 'zod';
import { uploadCompletedSchema } from './messages.ts';

/**
 * The questions an engine asks the control plane that need an answer at once. Served on the internal listener only;
 * every request carries `Authorization: Bearer <SERVICE_SECRET>`. Described for readers in openapi/internal.yaml.
 */
export const INTERNAL_PATHS = {
  redeemTicket: '/internal/v1/upload-tickets/redeem',
  completeTransfer: '/internal/v1/upload-tickets/complete',
  releaseTransfer: '/internal/v1/upload-tickets/release',
  transferWanted: '/internal/v1/upload-tickets/wanted',
  claimAttempt: '/internal/v1/attempts/claim',
  attemptWanted: '/internal/v1/attempts/wanted',
} as const;

/** May this token upload now? Yes leases the ticket to the transfer named in the answer. */
export const redeemTicketRequest = z.object({
  token: z.string().max(200),
  /** Content-Length of the request, null when the client sent none: an early 413. */
  contentLength: z.int().nonnegative().nullable(),
  /** Whom unknown tokens count for; null when it is unknown. */
  clientAddress: z.string().nullable(),
});
export type RedeemTicketRequest = z.infer<typeof redeemTicketRequest>;

export const redeemTicketResponse = z.object({
  videoId: z.string(),
  workspaceId: z.string(),
  transferId: z.string(),
  /** Where the engine puts the file: a place of this transfer alone. */
  sourceKey: z.string(),
  /** Largest file accepted, in bytes. */
  maxBytes: z.int().positive(),
  /** The lease runs out this many seconds after the last `upload.progress`. */
  leaseSeconds: z.int().positive(),
});
export type RedeemTicketResponse = z.infer<typeof redeemTicketResponse>;

/**
 * The file of a transfer is stored: registers it and spends the ticket. Returns 204, also when repeated. Refused with 401
 * `upload_token_expired` or 409 `upload_cancelled` when the file is not taken; then nothing of it is kept.
 */
export const completeTransferRequest = uploadCompletedSchema;
export type CompleteTransferRequest = z.infer<typeof completeTransferRequest>;

/** A transfer broke: the token may be used again until it expires. Answered 204, also when repeated. */
export const releaseTransferRequest = z.object({
  videoId: z.string(),
  transferId: z.string(),
  reason: z.string(),
});
export type ReleaseTransferRequest = z.infer<typeof releaseTransferRequest>;

/** Does this transfer hold the ticket of a video that waits for its file? Not after a DELETE, an expiry or a lost lease. */
export const transferWantedRequest = z.object({ videoId: z.string(), transferId: z.string() });
export type TransferWantedRequest = z.infer<typeof transferWantedRequest>;

/** May I run the next attempt at this video? 409 `attempt_not_claimable` when it is running elsewhere, done or gone. */
export const claimAttemptRequest = z.object({ videoId: z.string() });
export type ClaimAttemptRequest = z.infer<typeof claimAttemptRequest>;

export const claimAttemptResponse = z.object({
  /** The fencing number; results carry it, and older ones change nothing. */
  attempt: z.int().positive(),
  /** The AES-128 content key of this attempt, 16 bytes in base64. It is a secret: never log or store it. */
  contentKey: z.base64().length(24),
  sourceKey: z.string(),
  /** Size of the source, in bytes. */
  sourceBytes: z.int().positive(),
  /** The lease runs out this many seconds after the last `transcode.progress`. */
  leaseSeconds: z.int().positive(),
});
export type ClaimAttemptResponse = z.infer<typeof claimAttemptResponse>;

/** Does this attempt still hold the lease of a video that still exists? */
export const attemptWantedRequest = z.object({ videoId: z.string(), attempt: z.int().positive() });
export type AttemptWantedRequest = z.infer<typeof attemptWantedRequest>;

/** The answer to both `wanted` questions. When false, stop the work and clean up. */
export const wantedResponse = z.object({ wanted: z.boolean() });
export type WantedResponse = z.infer<typeof wantedResponse>;
