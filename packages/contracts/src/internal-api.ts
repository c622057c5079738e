import { z } from 'zod';
import { clipWorkSchema } from './clip-work.ts';
import { IMPORT_FAILURE_CODES } from './failures.ts';
import { HARDWARE } from './hardware.ts';
import { HDR_CHOICES } from './hdr.ts';
import { COMMAND_TYPES, taskTrySchema, transferSchema, uploadCompletedSchema } from './messages.ts';
import { DERIVATION_COMMANDS } from './outputs/kinds.ts';
import { initializationSection } from './outputs/renditions.ts';
import { derivationSchema, taskSchema } from './outputs/tasks.ts';
import { PACKAGING_NAMES } from './packaging.ts';
import { ALTERNATIVE_CODECS, RENDITIONS, TRACK_RENDITIONS } from './renditions.ts';
import { taskPlanSchema, transcodePlanSchema } from './transcode-plan.ts';
import { trimSchema } from './trim.ts';
import { claimedWatermark } from './watermark.ts';

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
  checkImports: '/internal/v1/imports/check',
  createResumable: '/internal/v1/resumable-uploads/create',
  openResumable: '/internal/v1/resumable-uploads/open',
  saveResumable: '/internal/v1/resumable-uploads/save',
  terminateResumable: '/internal/v1/resumable-uploads/terminate',
  storePlan: '/internal/v1/plans/store',
  claimTask: '/internal/v1/tasks/claim',
  checkTask: '/internal/v1/tasks/check',
  reportNoRoom: '/internal/v1/tasks/no-room',
  announceEngine: '/internal/v1/engines/announce',
} as const;

/** Maximum length of an upload token. */
export const MAX_TOKEN_LENGTH = 200;

/**
 * The id of a claim, which the engine chooses. If the response is lost, the engine repeats the claim with the same id and gets what the
 * claim got, as long as its lease is valid.
 */
const claimId = z.string().min(1).max(64);

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
  claimId,
});
export type RedeemTicketRequest = z.infer<typeof redeemTicketRequest>;

/** The `traceparent` of what created the video, if that was traced. The span of the upload is its child. */
const traceOfUpload = z.string().optional();

export const redeemTicketResponse = z.object({
  videoId: z.string(),
  workspaceId: z.string(),
  transferId: z.string(),
  /** The object key for the file. No other transfer uses it. */
  sourceKey: z.string(),
  /** Maximum size of the file in bytes. This many bytes are reserved for it. */
  maxBytes: z.int().positive(),
  /** The lease expires this many seconds after the last reported progress. */
  leaseSeconds: z.int().positive(),
  traceparent: traceOfUpload,
});
export type RedeemTicketResponse = z.infer<typeof redeemTicketResponse>;

/**
 * Registers the stored file of a transfer and uses up the ticket. Idempotent; responds with 204. Responds with 401
 * `upload_token_expired` or 409 `upload_cancelled` if the file is not accepted; the engine then deletes it.
 */
export const completeTransferRequest = uploadCompletedSchema;
export type CompleteTransferRequest = z.infer<typeof completeTransferRequest>;

/** Releases the ticket of a failed transfer: the token works again until it expires. Idempotent; responds with 204. */
export const releaseTransferRequest = transferSchema;
export type ReleaseTransferRequest = z.infer<typeof releaseTransferRequest>;

/**
 * Checks whether the transfer is current. It is current until it is complete or released, another transfer holds its ticket, or
 * the video is deleted or fails.
 */
export const checkTransferRequest = transferSchema;
export type CheckTransferRequest = z.infer<typeof checkTransferRequest>;

/** The headers of a request to a remote server: the value of each, by name. */
const requestHeaders = z.record(z.string(), z.string());

/** Why a try of an import failed. `storage_failed` and `internal_error` are failures of Framelane. */
export const importTryFailure = z.enum([...IMPORT_FAILURE_CODES, 'storage_failed', 'internal_error']);
export type ImportTryFailure = z.infer<typeof importTryFailure>;

/** Claims an import that is due, with a new transfer. An engine takes any import. */
export const claimImportRequest = z.object({ claimId });
export type ClaimImportRequest = z.infer<typeof claimImportRequest>;

export const claimImportResponse = z.object({
  /** Null if no import is due. */
  import: redeemTicketResponse
    .extend({
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

/**
 * Asks whether an import waits for an engine whose workspace has fewer running imports than this one. An engine without a free slot then
 * hands back a slow import of this workspace.
 */
export const checkImportsRequest = z.object({ workspaceId: z.string() });
export type CheckImportsRequest = z.infer<typeof checkImportsRequest>;

export const checkImportsResponse = z.object({ waiting: z.boolean() });

/** The state of a resumable upload in the object store. Only the store reads its members. */
export const checkpointSchema = z.object({
  id: z.string(),
  durableBytes: z.int().nonnegative(),
  tail: z.array(z.object({ key: z.string(), bytes: z.int().positive() })),
  laterBytesUntrusted: z.boolean(),
});

/** Maximum length of the `Upload-Metadata` header. */
export const MAX_METADATA_LENGTH = 4096;

/**
 * Creates a resumable upload for the ticket of a token. If the ticket has an unfinished upload with the same length and metadata, the
 * response names that one. Otherwise the new upload supersedes a paused one. Refused for the same reasons as a redemption.
 */
export const createResumableRequest = z.object({
  token: z.string().max(MAX_TOKEN_LENGTH),
  /** Bytes of the file. */
  length: z.int().positive(),
  /** The `Upload-Metadata` header, or an empty string. */
  metadata: z.string().max(MAX_METADATA_LENGTH),
  clientAddress: z.string().nullable(),
});
export type CreateResumableRequest = z.infer<typeof createResumableRequest>;

export const createResumableResponse = z.object({
  transferId: z.string(),
  /** The URL of the upload. */
  url: z.string(),
  /** When the ticket expires. */
  expiresAt: z.iso.datetime(),
});
export type CreateResumableResponse = z.infer<typeof createResumableResponse>;

/** Opens a resumable upload for this engine, which takes it over from any other. */
export const openResumableRequest = z.object({
  token: z.string().max(MAX_TOKEN_LENGTH),
  transferId: z.string(),
  /** The epoch in which this engine has it open, or null. The epoch stays unless another engine has taken the upload over. */
  epoch: z.int().positive().nullable(),
  clientAddress: z.string().nullable(),
  claimId,
});
export type OpenResumableRequest = z.infer<typeof openResumableRequest>;

const resumableFacts = { length: z.int().positive(), metadata: z.string() };

export const openResumableResponse = z.discriminatedUnion('status', [
  z.object({ status: z.literal('complete'), ...resumableFacts }),
  z.object({
    status: z.literal('open'),
    ...resumableFacts,
    videoId: z.string(),
    workspaceId: z.string(),
    sourceKey: z.string(),
    /** The fencing number. Requests with a smaller one are refused. */
    epoch: z.int().positive(),
    /** Null before the first byte. */
    checkpoint: checkpointSchema.nullable(),
    leaseSeconds: z.int().positive(),
    expiresAt: z.iso.datetime(),
    traceparent: traceOfUpload,
  }),
]);
export type OpenResumableResponse = z.infer<typeof openResumableResponse>;

/**
 * Saves the checkpoint of an open upload, and renews its lease and its ticket. Responds with 409 `transfer_lost` if another engine
 * has taken the upload over, or the ticket accepts no file.
 */
export const saveResumableRequest = z.object({
  videoId: z.string(),
  transferId: z.string(),
  epoch: z.int().positive(),
  checkpoint: checkpointSchema,
});
export type SaveResumableRequest = z.infer<typeof saveResumableRequest>;

export const saveResumableResponse = z.object({ expiresAt: z.iso.datetime() });
export type SaveResumableResponse = z.infer<typeof saveResumableResponse>;

/** Ends a resumable upload that is not complete. The ticket can be used again. */
export const terminateResumableRequest = z.object({
  token: z.string().max(MAX_TOKEN_LENGTH),
  transferId: z.string(),
  clientAddress: z.string().nullable(),
});
export type TerminateResumableRequest = z.infer<typeof terminateResumableRequest>;

/** The stored bytes that the engine discards. */
export const terminateResumableResponse = z.object({
  sourceKey: z.string(),
  checkpoint: checkpointSchema.nullable(),
});
export type TerminateResumableResponse = z.infer<typeof terminateResumableResponse>;

/**
 * What becomes of a file with sound alone: `accepted` or `refused`. `required`: only the sound is used, also if the file has video.
 */
export const AUDIO_ONLY_RULES = ['required', 'accepted', 'refused'] as const;
export type AudioOnlyRule = (typeof AUDIO_ONLY_RULES)[number];

/**
 * Claims the next task of a video. A repeat of the claim gets the same try. Responds with 409 `task_not_claimable` if none waits: it runs
 * elsewhere, or the video is ready, failed or deleted.
 */
export const claimTaskRequest = z.object({
  videoId: z.string(),
  /** The type of the command that the engine has received: it claims the planning of the video, a task of its plan, a derivation, or the making of a clip. */
  command: z.enum(COMMAND_TYPES),
  /** The version of plans that the engine knows. It gets only tasks of plans of this version. Derivations depend on no plan. */
  planVersion: z.int().positive(),
  claimId,
});
export type ClaimTaskRequest = z.infer<typeof claimTaskRequest>;

const claimedTry = taskTrySchema.omit({ videoId: true }).extend({
  /** The AES-128 content key: 16 bytes in base64. It is a secret, so never log or store it. */
  contentKey: z.base64().length(24),
  /** Bytes of what the work reads: the source, or stored renditions. */
  inputBytes: z.int().positive(),
  /** The lease expires this many seconds after the last `task.progress`. */
  leaseSeconds: z.int().positive(),
});

const source = {
  sourceKey: z.string(),
  /** Only if the video has one. */
  watermark: claimedWatermark.optional(),
};

const claimedPlanning = claimedTry.extend({
  ...source,
  work: z.object({
    kind: z.literal('plan'),
    /** Whether the engine must compute the SHA-256 of the source, because the control plane does not know it. */
    hashSource: z.boolean(),
    /** Seconds of a piece. A video longer than two pieces is cut. Null if the video is to be transcoded as a whole. */
    pieceSeconds: z.number().positive().nullable(),
    /** Whether sound alone is accepted. The control plane decides, so that all engines do the same. */
    audioOnly: z.enum(AUDIO_ONLY_RULES),
    /** How the segments are packed. */
    packaging: z.enum(PACKAGING_NAMES),
    /** The codecs that the video has beside H.264. */
    codecs: z.array(z.enum(ALTERNATIVE_CODECS)).readonly(),
    /** What becomes of high dynamic range in these codecs. */
    hdr: z.enum(HDR_CHOICES),
    /** Only if the video is a part of its file. */
    trim: trimSchema.optional(),
  }),
});
export type ClaimedPlanning = z.infer<typeof claimedPlanning>;

const claimedTask = claimedTry.extend({ ...source, work: taskSchema, plan: taskPlanSchema });
export type ClaimedTask = z.infer<typeof claimedTask>;

/** Segments of a stored rendition of a ready video. */
const storedTrack = z.object({
  name: z.enum(TRACK_RENDITIONS),
  /** BCP 47, and the name in players. Null for video, and without a language. */
  language: z.string().nullable(),
  label: z.string().nullable(),
  /** Absent if the packaging has none. */
  initialization: initializationSection.optional(),
  /** The number of the first of these segments. */
  firstSegment: z.int().nonnegative(),
  /** Bytes of each encrypted segment, in playback order. */
  segmentBytes: z.array(z.int().positive()).min(1),
  /** Where the segments are: below one prefix until the next place begins. The first place begins with the first segment, or before it. */
  places: z.array(z.object({ firstSegment: z.int().nonnegative(), prefix: z.string() })).min(1),
});
export type StoredTrack = z.infer<typeof storedTrack>;

const claimedDerivation = claimedTry.extend({
  work: derivationSchema,
  /** How the segments are packed. */
  packaging: z.enum(PACKAGING_NAMES),
  /** What it reads of renditions, in its order. */
  tracks: z.array(storedTrack).min(1),
  /** Seconds of the video. */
  duration: z.number().positive(),
  /** The timestamp of the first frame in the segments, in units of 1/90,000 s. */
  startTimestamp: z.int().nonnegative(),
});
export type ClaimedDerivation = z.infer<typeof claimedDerivation>;

const claimedClip = claimedTry.extend({
  work: clipWorkSchema,
  /** The plan of the clip. Its audio and video are encoded as those of the other video. */
  plan: taskPlanSchema,
  /** The other video. */
  parent: z.object({
    /** Its content key, as that of the clip. */
    contentKey: z.base64().length(24),
    /** All its renditions, video first. */
    tracks: z
      .array(
        storedTrack.extend({
          name: z.enum(RENDITIONS),
          /** RFC 6381 codec string. */
          codecs: z.string().min(1),
        }),
      )
      .min(1),
    /** The timestamp of its first frame, in units of 1/90,000 s. */
    startTimestamp: z.int().nonnegative(),
    /** The object key of its poster; null without one. */
    posterKey: z.string().nullable(),
  }),
});
export type ClaimedClip = z.infer<typeof claimedClip>;

export const claimTaskResponse = z.union([claimedClip, claimedTask, claimedDerivation, claimedPlanning]);
export type ClaimTaskResponse = z.infer<typeof claimTaskResponse>;

/**
 * Stores the plan of an attempt. A plan with tasks ends the try: engines claim the tasks. Without tasks, the try goes on and makes all
 * outputs; if it then needs another plan, it stores that one in its place. Idempotent. Responds with 204, or with 409 `plan_not_current` if
 * the try has ended.
 */
export const storePlanRequest = taskTrySchema.extend({
  plan: transcodePlanSchema,
  /** SHA-256 of the source, if the control plane did not know it. */
  sourceSha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
});
export type StorePlanRequest = z.infer<typeof storePlanRequest>;

/** Checks whether the try is current: it holds its lease, and the video is not deleted. */
export const checkTaskRequest = taskTrySchema;
export type CheckTaskRequest = z.infer<typeof checkTaskRequest>;

/**
 * Reports that an engine has dropped a command of a derivation because its disk has no room for it. The derivation ends if it has waited for a day.
 * Idempotent; responds with 204.
 */
export const reportNoRoomRequest = z.object({
  videoId: z.string(),
  command: z.enum(DERIVATION_COMMANDS),
  /** As in the command. */
  inputBytes: z.int().positive(),
});
export type ReportNoRoomRequest = z.infer<typeof reportNoRoomRequest>;

/** The response to all checks. If `current` is false, the engine stops the work and cleans up. */
export const checkResponse = z.object({ current: z.boolean() });

/** Each engine checks its transfers and tries at least this often, in seconds. */
export const CHECK_SECONDS = 5;

/** Each engine renews a lease this many times within its duration. */
export const RENEWALS_PER_LEASE = 4;

/** Each engine announces itself this often, also while it stops. */
export const ANNOUNCE_SECONDS = 5;

/** Whether an engine takes new work, completes the work in progress, or has ended. */
export const engineState = z.enum(['working', 'stopping', 'stopped']);
export type EngineState = z.infer<typeof engineState>;

/** The interface of the device that encodes video, and why software does, if the device is refused. */
export const engineHardware = z.object({
  kind: z.enum(HARDWARE),
  refusal: z.string().max(500).nullable(),
});
export type EngineHardware = z.infer<typeof engineHardware>;

/** Reports that an engine is alive, and what it does. The last request has the state `stopped`. Responds with 204. */
export const announceEngineRequest = z.object({
  /** New at each start. */
  engineId: z.string().max(64),
  /** The name of its machine, container or pod, and the port of its internal listener. */
  host: z.string().max(255),
  port: z.int().positive(),
  state: engineState,
  roles: z.array(z.enum(['upload', 'transcode'])),
  /** Versions of Framelane, Node.js and ffmpeg. That of ffmpeg is null without the role `transcode`. */
  version: z.string().max(100),
  nodeVersion: z.string().max(100),
  ffmpegVersion: z.string().max(200).nullable(),
  /** Null if software encodes video. */
  hardware: engineHardware.nullable(),
  uptimeSeconds: z.number().nonnegative(),
  /** Slots for transcodes, and how many are in use. */
  slots: z.int().nonnegative(),
  slotsBusy: z.int().nonnegative(),
  /** Tasks of plans in progress. */
  tasks: z.int().nonnegative(),
  /** Transfers in progress. */
  uploads: z.int().nonnegative(),
  imports: z.int().nonnegative(),
  /** Free space where jobs work; null without the role `transcode`. */
  diskFreeBytes: z.number().nonnegative().nullable(),
});
export type AnnounceEngineRequest = z.infer<typeof announceEngineRequest>;
