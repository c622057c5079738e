import { z } from 'zod';
import { IMPORT_FAILURE_CODES } from './failures.ts';
import { uploadCompletedSchema } from './messages.ts';

/**
 * The requests that an engine sends to the control plane. They exist on the internal listener only, and every request carries
 * `Authorization: Bearer <SERVICE_SECRET>`. openapi/internal.yaml documents them.
 */
export const INTERNAL_PATHS = {
  redeemTicket: '/internal/v1/upload-tickets/redeem',
  completeTransfer: '/internal/v1/upload-tickets/complete',
  releaseTransfer: '/internal/v1/upload-tickets/release',
  checkTransfer: '/internal/v1/upload-tickets/check',
  claimImport: '/internal/v1/imports/claim',
  importProgress: '/internal/v1/imports/progress',
  endImportTry: '/internal/v1/imports/end-try',
  claimAttempt: '/internal/v1/attempts/claim',
  checkAttempt: '/internal/v1/attempts/check',
} as const;

/** Maximum length of an upload token. */
export const MAX_TOKEN_LENGTH = 200;

/**
 * Redeems an upload token: leases its ticket to a new transfer, which the response names. Responds with 403 `quota_exceeded` when
 * the workspace has no room for the file.
 */
export const redeemTicketRequest = z.object({
  token: z.string().max(MAX_TOKEN_LENGTH),
  /** Content-Length of the upload; null if the client sent none. If the file would be too large, the response is a 413. */
  contentLength: z.int().nonnegative().nullable(),
  /** The client whose rate limit invalid tokens count against; null if unknown. */
  clientAddress: z.string().nullable(),
});
export type RedeemTicketRequest = z.infer<typeof redeemTicketRequest>;

export const redeemTicketResponse = z.object({
  videoId: z.string(),
  workspaceId: z.string(),
  transferId: z.string(),
  /** The object key for the file. No other transfer uses it. */
  sourceKey: z.string(),
  /** Maximum size of the file in bytes: the reserved ones. */
  maxBytes: z.int().positive(),
  /** The lease expires this many seconds after the last `upload.progress`. */
  leaseSeconds: z.int().positive(),
});
export type RedeemTicketResponse = z.infer<typeof redeemTicketResponse>;

/**
 * Registers the stored file of a transfer and uses up the ticket. Idempotent; responds with 204. Responds with 401
 * `upload_token_expired` or 409 `upload_cancelled` if the file is not accepted; the engine then deletes it.
 */
export const completeTransferRequest = uploadCompletedSchema;
export type CompleteTransferRequest = z.infer<typeof completeTransferRequest>;

/** Releases the ticket of a failed transfer: the token works again until it expires. Idempotent; responds with 204. */
export const releaseTransferRequest = z.object({
  videoId: z.string(),
  transferId: z.string(),
  reason: z.string(),
});
export type ReleaseTransferRequest = z.infer<typeof releaseTransferRequest>;

/**
 * Checks whether the transfer is current. It is current until it is complete or released, another transfer holds its ticket, or
 * the video is deleted or fails.
 */
export const checkTransferRequest = z.object({ videoId: z.string(), transferId: z.string() });
export type CheckTransferRequest = z.infer<typeof checkTransferRequest>;

/** A header of a request to a remote server: its name and its value. */
const requestHeaders = z.record(z.string(), z.string());

/** Why a try of an import failed. `storage_failed` and `internal_error` are faults of ours. */
export const importTryFailure = z.enum([...IMPORT_FAILURE_CODES, 'storage_failed', 'internal_error']);
export type ImportTryFailure = z.infer<typeof importTryFailure>;

/** Claims an import that is due, with a new transfer. The request has no content: an engine takes any import. */
export const claimImportResponse = z.object({
  /** Null if no import is due. */
  import: z
    .object({
      videoId: z.string(),
      workspaceId: z.string(),
      transferId: z.string(),
      sourceKey: z.string(),
      maxBytes: z.int().positive(),
      /** The lease expires this many seconds after the last progress. */
      leaseSeconds: z.int().positive(),
      /** Seconds until the import fails with `import_timed_out`. */
      secondsLeft: z.number().positive(),
      /** May contain credentials in its query, so never log it. */
      url: z.string(),
      /** For the origin of the URL only. They are secrets, so never log or store them. */
      headers: requestHeaders,
      /** Failed tries so far. */
      tries: z.int().nonnegative(),
      /** Whether the import has already started over because the file changed. */
      startedOver: z.boolean(),
    })
    .nullable(),
});
export type ClaimedImport = NonNullable<z.infer<typeof claimImportResponse>['import']>;

/** Stores the progress of an import and renews its lease. The response says whether the transfer is current. */
export const importProgressRequest = z.object({
  videoId: z.string(),
  transferId: z.string(),
  /** Bytes received, and the size of the file if the server has declared it. */
  bytes: z.int().nonnegative(),
  totalBytes: z.int().positive().nullable(),
  tries: z.int().nonnegative(),
  /** Why the latest try failed, and seconds until the next one while the engine waits for it. */
  failure: importTryFailure.nullable(),
  nextTryInSeconds: z.number().nonnegative().nullable(),
});
export type ImportProgressRequest = z.infer<typeof importProgressRequest>;

/**
 * Ends a try whose file is not stored. Idempotent; responds with 204. With `failure` null the engine hands the import back. With
 * `retryInSeconds` null the video fails; otherwise the import is due again after that time, and begins with the first byte.
 */
export const endImportTryRequest = z.object({
  videoId: z.string(),
  transferId: z.string(),
  tries: z.int().nonnegative(),
  failure: importTryFailure.nullable(),
  retryInSeconds: z.number().nonnegative().nullable(),
  startedOver: z.boolean(),
});
export type EndImportTryRequest = z.infer<typeof endImportTryRequest>;

/** Claims the next attempt at a video. Responds with 409 `attempt_not_claimable` if it is running elsewhere, done or deleted. */
export const claimAttemptRequest = z.object({ videoId: z.string() });
export type ClaimAttemptRequest = z.infer<typeof claimAttemptRequest>;

export const claimAttemptResponse = z.object({
  /** The fencing number. Results carry it, and the control plane ignores results of older attempts. */
  attempt: z.int().positive(),
  /** The AES-128 content key of this attempt: 16 bytes in base64. It is a secret, so never log or store it. */
  contentKey: z.base64().length(24),
  sourceKey: z.string(),
  /** Size of the source in bytes. */
  sourceBytes: z.int().positive(),
  /** The lease expires this many seconds after the last `transcode.progress`. */
  leaseSeconds: z.int().positive(),
});
export type ClaimAttemptResponse = z.infer<typeof claimAttemptResponse>;

/** Checks whether the attempt is current: it holds its lease, and the video is not deleted. */
export const checkAttemptRequest = z.object({ videoId: z.string(), attempt: z.int().positive() });
export type CheckAttemptRequest = z.infer<typeof checkAttemptRequest>;

/** The response to both checks. If `current` is false, the engine stops the work and cleans up. */
export const checkResponse = z.object({ current: z.boolean() });
export type CheckResponse = z.infer<typeof checkResponse>;
