import type { FailureCode } from '@framelane/contracts/failures';
import type { InputIssue, Storyboard } from '@framelane/contracts/manifest';
import type { RenditionName, VideoRendition } from '@framelane/contracts/renditions';
import type { components } from '@framelane/openapi/types';
import type { ColumnType, Generated, Insertable, JSONColumnType, Selectable } from 'kysely';

/** The tables as kysely sees them; migrations/ makes them, schema.sql shows them. Times are timestamptz(3). */
export type Schema = {
  workspaces: WorkspacesTable;
  api_keys: ApiKeysTable;
  videos: VideosTable;
  upload_tickets: UploadTicketsTable;
  attempts: AttemptsTable;
  renditions: RenditionsTable;
  object_purges: ObjectPurgesTable;
  maintenance_steps: MaintenanceStepsTable;
  usage_daily: UsageDailyTable;
  webhook_endpoints: WebhookEndpointsTable;
  webhook_events: WebhookEventsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  webhook_attempts: WebhookAttemptsTable;
  idempotency_keys: IdempotencyKeysTable;
};

export type Environment = components['schemas']['Environment'];
/** What a key can be allowed to do; operations name what they need in the OpenAPI document. */
export type Permission = components['schemas']['Permission'];
export type KeyPrefix = `svc_${Environment}_`;
export type VideoStatus = components['schemas']['VideoStatus'];
export type PlaybackPolicy = components['schemas']['PlaybackPolicy'];
/** What the owner of a video notes on it. */
export type Metadata = components['schemas']['Metadata'];

type CreatedAt = ColumnType<Date, Date | undefined, never>;

type WorkspacesTable = { id: string; name: string; created_at: CreatedAt };
export type WorkspaceRow = Selectable<WorkspacesTable>;

type ApiKeysTable = {
  id: string;
  workspace_id: string;
  name: string;
  /** SHA-256 of the whole secret. */
  secret_hash: Buffer;
  prefix: KeyPrefix;
  last4: string;
  environment: Environment;
  permissions: Permission[];
  /** The key that created it; null for an administrator without a key. */
  created_by: string | null;
  created_at: CreatedAt;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
};
export type ApiKeyRow = Selectable<ApiKeysTable>;

/** What the probe said of the uploaded file, apart from the columns of its own. */
type SourceColumn = { container: string; videoCodec: string; audioCodec: string | null };

type VideosTable = {
  id: string;
  workspace_id: string;
  environment: Environment;
  status: VideoStatus;
  title: string;
  filename: string;
  playback_policy: Generated<PlaybackPolicy>;
  metadata: JSONColumnType<Metadata, string | undefined>;
  tags: Generated<string[]>;
  passthrough: string | null;
  /** Bytes and SHA-256 (hex) of the source; null until uploaded. */
  size: number | null;
  sha256: string | null;
  /** The object key of the source, below the prefix of the transfer that stored it. */
  source_key: string | null;
  source: JSONColumnType<SourceColumn> | null;
  input_issues: JSONColumnType<InputIssue[], string | undefined>;
  duration: number | null;
  width: number | null;
  height: number | null;
  frame_rate: number | null;
  /** Rungs in the master playlist, lowest first; null until ready. */
  variants: VideoRendition[] | null;
  /** EXT-X-TARGETDURATION of every rendition; null until ready. */
  target_duration: number | null;
  /** Size of the still picture, and what is known of the small ones; null until ready, and where there are none. */
  poster_bytes: number | null;
  storyboard: JSONColumnType<Storyboard> | null;
  storage_bytes: Generated<number>;
  /** 0..100; never falls. */
  progress: Generated<number>;
  /** Number of the latest attempt, 0 before the first. The fencing token of results. */
  attempt: Generated<number>;
  /** Attempts that went wrong; handed-back ones do not count. */
  failed_attempts: Generated<number>;
  /** When a transcode command is to be published; null when none is. Its claim expires at `command_claimed_until`. */
  command_due_at: Date | null;
  command_claimed_until: Date | null;
  /** When the queue confirmed the latest command. */
  command_published_at: Date | null;
  /** When it began to wait for its next attempt. A command that is published again does not change it. */
  waiting_since: Date | null;
  /** Sealed AES-128 key of the latest attempt; erased when the video fails or is deleted. */
  content_key: string | null;
  error_code: FailureCode | null;
  error_message: string | null;
  created_at: CreatedAt;
  updated_at: Generated<Date>;
  uploaded_at: Date | null;
  ready_at: Date | null;
  /** When a video made with a test key is to be deleted; null for all others. */
  remove_at: Date | null;
  /** Set on a tombstone: the row of a deleted video, which holds ids, status and times for the purge. */
  deleted_at: Date | null;
};
export type VideoRow = Selectable<VideosTable>;

type UploadTicketsTable = {
  video_id: string;
  /** SHA-256 of the token. */
  token_hash: Buffer;
  expires_at: Date;
  /** The transfer the ticket is leased to, until it completes, breaks or falls silent. */
  transfer_id: string | null;
  lease_expires_at: Date | null;
  /** Bytes that the latest transfer announced, or the most it may have. */
  announced_bytes: number | null;
  /** When the upload completed: the token is spent. */
  used_at: Date | null;
};
export type UploadTicketRow = Selectable<UploadTicketsTable>;

export type AttemptOutcome = 'completed' | 'failed' | 'lease_expired' | 'handed_back';

type AttemptsTable = {
  video_id: string;
  number: number;
  started_at: CreatedAt;
  lease_expires_at: Date;
  /** Null while it runs. */
  outcome: AttemptOutcome | null;
  finished_at: Date | null;
};

type RenditionsTable = {
  video_id: string;
  name: RenditionName;
  codecs: string;
  width: number | null;
  height: number | null;
  frame_rate: number | null;
  channels: number | null;
  language: string | null;
  /** Measured peak and average, bits a second. */
  bandwidth: number;
  average_bandwidth: number;
  /** Seconds and bytes of each segment, in play order; the arrays are equally long. */
  segment_durations: number[];
  segment_bytes: number[];
};
export type RenditionRow = Selectable<RenditionsTable>;

type ObjectPurgesTable = {
  /** The video whose orphaned objects are purged. */
  video_id: string;
  /** Which of the passes is next, from 1. */
  pass: Generated<number>;
  due_at: Generated<Date>;
  claimed_until: Date | null;
};

type MaintenanceStepsTable = {
  name: string;
  due_at: Generated<Date>;
  claimed_until: Date | null;
};

type UsageDailyTable = {
  workspace_id: string;
  environment: Environment;
  /** A day in UTC. To be selected as text: pg reads a date as midnight where the process is. */
  day: ColumnType<Date, string, never>;
  /** Milliseconds of the sources of videos that became ready. */
  transcoded_ms: Generated<number>;
  /** Bytes sent from /hls. */
  bandwidth_bytes: Generated<number>;
};

/** What an owner can subscribe to. */
export type WebhookEventType = components['schemas']['WebhookEventType'];
/** What can be delivered: those, and what an owner sends to try an endpoint out. */
export type WebhookEventKind = components['schemas']['WebhookDelivery']['eventType'];
export type DeliveryStatus = components['schemas']['WebhookDelivery']['status'];
/** Why an attempt at a delivery failed. */
export type DeliveryFailure = components['schemas']['WebhookDeliveryError']['code'];
export type DisabledReason = NonNullable<components['schemas']['Webhook']['disabledReason']>;

type WebhookEndpointsTable = {
  id: string;
  workspace_id: string;
  url: string;
  description: string | null;
  events: WebhookEventType[];
  enabled: boolean;
  /** Null while enabled. */
  disabled_reason: DisabledReason | null;
  /** Sealed, as is the one it replaced, which signs beside it until it expires. */
  secret: string;
  previous_secret: string | null;
  previous_secret_expires_at: Date | null;
  /** Attempts that failed since the last one that did not, and when the first of them was. */
  consecutive_failures: Generated<number>;
  failing_since: Date | null;
  /** Null until something was sent to where it is now. */
  last_attempt_at: Date | null;
  created_at: CreatedAt;
  updated_at: Generated<Date>;
};
export type WebhookEndpointRow = Selectable<WebhookEndpointsTable>;
export type NewWebhookEndpoint = Insertable<WebhookEndpointsTable>;

type WebhookEventsTable = {
  id: string;
  workspace_id: string;
  type: WebhookEventKind;
  /** JSON, exactly as it is sent. */
  payload: string;
  created_at: CreatedAt;
};

type WebhookDeliveriesTable = {
  id: string;
  endpoint_id: string;
  event_id: string;
  status: Generated<DeliveryStatus>;
  /** Attempts made so far. */
  attempts: Generated<number>;
  /** Attempts that failed since the event or the last redelivery: the place in the retry schedule. */
  failures: Generated<number>;
  /** Null when none is to come. */
  next_attempt_at: Date | null;
  /** When the last attempt began, and what came of it. */
  last_attempt_at: Date | null;
  response_status: number | null;
  failure: DeliveryFailure | null;
  created_at: CreatedAt;
  /** When the claim of the attempt under way expires; also its token. Null between attempts. */
  claimed_until: Date | null;
  /** Begins with 1; each redelivery begins the next, which no attempt of an earlier round reschedules. */
  round: Generated<number>;
};
export type WebhookDeliveryRow = Selectable<WebhookDeliveriesTable>;

type WebhookAttemptsTable = {
  delivery_id: string;
  number: number;
  at: Date;
  duration_ms: number;
  response_status: number | null;
  failure: DeliveryFailure | null;
};
export type WebhookAttemptRow = Selectable<WebhookAttemptsTable>;
export type NewWebhookAttempt = Insertable<WebhookAttemptsTable>;

type IdempotencyKeysTable = {
  workspace_id: string;
  /** SHA-256 of the path and the key, and of the body that came with it. */
  key_hash: Buffer;
  payload_hash: Buffer;
  /** The key is leased to the request that is carried out; null once that is answered. */
  leased_until: Date | null;
  /** The answer, without what is told once only; null until there is one. */
  status: number | null;
  location: string | null;
  body: JSONColumnType<Record<string, unknown>> | null;
  /** When the key was taken for the request that it is known for. */
  created_at: Generated<Date>;
};
export type IdempotencyKeyRow = Selectable<IdempotencyKeysTable>;
