import type { FailureCode } from '@framelane/contracts/failures';
import type { Hardware } from '@framelane/contracts/hardware';
import type { HdrChoice } from '@framelane/contracts/hdr';
import type { ImportTryFailure } from '@framelane/contracts/internal-api';
import type { InputIssue, VideoRange } from '@framelane/contracts/manifest';
import type { CommandType } from '@framelane/contracts/messages';
import type { DownloadName } from '@framelane/contracts/outputs/download';
import type { Storyboard } from '@framelane/contracts/outputs/images';
import type { OutputArtifact, TaskResult } from '@framelane/contracts/outputs/outputs';
import type { StartedRenditions } from '@framelane/contracts/outputs/renditions';
import type { TaskKind, Work } from '@framelane/contracts/outputs/tasks';
import type { PackagingName } from '@framelane/contracts/packaging';
import type { AlternativeCodec, AudioRole, RenditionName, RungName } from '@framelane/contracts/renditions';
import type { TaskPlan, TranscodePlan } from '@framelane/contracts/transcode-plan';
import type { WatermarkFormat } from '@framelane/contracts/watermark';
import type { Checkpoint } from '@framelane/object-store/object-store';
import type { components } from '@framelane/openapi/types';
import type { ColumnType, Generated, JSONColumnType, Selectable } from 'kysely';

/** The types of all tables. migrations/ creates them, schema.sql shows them. Times are timestamptz(3). */
export type Schema = {
  workspaces: WorkspacesTable;
  quotas: QuotasTable;
  api_keys: ApiKeysTable;
  console_codes: ConsoleCodesTable;
  console_people: ConsolePeopleTable;
  console_sessions: ConsoleSessionsTable;
  videos: VideosTable;
  upload_tickets: UploadTicketsTable;
  imports: ImportsTable;
  resumable_uploads: ResumableUploadsTable;
  clips: ClipsTable;
  attempts: AttemptsTable;
  tasks: TasksTable;
  engines: EnginesTable;
  renditions: RenditionsTable;
  captions: CaptionsTable;
  chapters: ChaptersTable;
  artifacts: ArtifactsTable;
  downloads: DownloadsTable;
  auto_captions: AutoCaptionsTable;
  pictures: PicturesTable;
  posters: PostersTable;
  watermarks: WatermarksTable;
  object_purges: ObjectPurgesTable;
  maintenance_steps: MaintenanceStepsTable;
  backup_state: BackupStateTable;
  usage_daily: UsageDailyTable;
  view_sessions: ViewSessionsTable;
  view_changes: ViewChangesTable;
  view_salts: ViewSaltsTable;
  views_daily: ViewsDailyTable;
  viewers_daily: ViewersDailyTable;
  webhook_endpoints: WebhookEndpointsTable;
  webhook_events: WebhookEventsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  delivery_attempts: DeliveryAttemptsTable;
  idempotency_keys: IdempotencyKeysTable;
  request_log: RequestLogTable;
  request_log_sizes: { workspace_id: string; day: Day; entries: number; bytes: number };
  audit_events: AuditEventsTable;
};

export type Environment = components['schemas']['Environment'];
/** A permission of a key. The OpenAPI document names those that each operation requires. */
export type Permission = components['schemas']['Permission'];
export type KeyPrefix = `svc_${Environment}_`;
export type VideoStatus = components['schemas']['VideoStatus'];
export type PlaybackPolicy = components['schemas']['PlaybackPolicy'];
/** Names and values that a client stores with a video. */
export type Metadata = components['schemas']['Metadata'];

type CreatedAt = ColumnType<Date, Date | undefined, never>;

type WorkspacesTable = { id: string; name: string; created_at: CreatedAt };
export type WorkspaceRow = Selectable<WorkspacesTable>;

/** The quotas of a workspace; a workspace without any may have no row. Null means unlimited. */
type QuotasTable = {
  workspace_id: string;
  stored_bytes: number | null;
  /** Per calendar month in UTC. */
  transcoded_minutes: number | null;
  videos: number | null;
  uploads: number | null;
  file_bytes: number | null;
};

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
  /** The key that created it; null for a console session or an administrator without a key. */
  created_by: string | null;
  created_at: CreatedAt;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
};
export type ApiKeyRow = Selectable<ApiKeysTable>;

/** What a sign-in link, a person or a session allows in one workspace. */
export type RightsRow = {
  workspace_id: string;
  /** The first one applies to requests that choose none. */
  environments: Environment[];
  permissions: Permission[];
  /** Whether the session may see the whole installation. */
  administrator: boolean;
};

/** The codes of sign-in links, with a row for each workspace. They stay for a day after their use and expiry, so that later uses are recognized. */
type ConsoleCodesTable = RightsRow & {
  /** SHA-256 of the code. */
  code_hash: Buffer;
  name: string;
  expires_at: Date;
  used_at: Generated<Date | null>;
  /** The first use that was refused, because the code was used before or has expired. */
  refused_at: Generated<Date | null>;
};
export type ConsoleCodeRow = Selectable<ConsoleCodesTable>;

/** Who may sign in by OpenID Connect, with a row for each workspace. */
type ConsolePeopleTable = RightsRow & {
  /** With lower-case ASCII letters. */
  email: string;
  created_at: CreatedAt;
};
export type ConsolePersonRow = Selectable<ConsolePeopleTable>;

/**
 * Console sessions, with a row for each workspace. The rows of a session have the same token and the same times. The rows of a session
 * that has ended are deleted.
 */
type ConsoleSessionsTable = RightsRow & {
  id: string;
  /** SHA-256 of the token in the cookie. */
  token_hash: Buffer;
  name: string;
  /** Who signed in by OpenID Connect; null after a link. The row is deleted with that of the person in this workspace. */
  person_email: string | null;
  user_agent: string | null;
  created_at: CreatedAt;
  last_seen_at: Generated<Date>;
  /** When the session expires without another request; at most `expires_at`. */
  idle_expires_at: Date;
  expires_at: Date;
};
export type ConsoleSessionRow = Selectable<ConsoleSessionsTable>;

/** Properties of the source that have no column of their own. */
type SourceColumn = { container: string; videoCodec: string; audioCodec: string | null };

/**
 * A codec beside H.264. It is being prepared from the request on: while the video is, and then while it has tasks. Whether the video has failed is
 * not stored here.
 */
export type AlternativeCodecState = {
  codec: AlternativeCodec;
  status: components['schemas']['CodecState']['status'];
  error: components['schemas']['CodecError'] | null;
};

type VideosTable = {
  id: string;
  workspace_id: string;
  environment: Environment;
  status: VideoStatus;
  title: string;
  filename: string;
  playback_policy: Generated<PlaybackPolicy>;
  /** Origins that may show the player page in a frame; null for those of the installation. */
  allowed_origins: string[] | null;
  /** Increases whenever a playlist of the ready video changes. It is part of the cache key of playlists. */
  playback_version: Generated<number>;
  metadata: JSONColumnType<Metadata, string | undefined>;
  tags: Generated<string[]>;
  passthrough: string | null;
  /** How its segments are packed. Fixed when the video is created. */
  packaging: Generated<PackagingName>;
  /** The codecs beside H.264 that the request asks for, in the order of `ALTERNATIVE_CODECS`. */
  codecs: JSONColumnType<AlternativeCodecState[], string | undefined>;
  /** What becomes of high dynamic range in these codecs. */
  hdr: Generated<HdrChoice>;
  /** Whether the request wants sound alone (true) or refuses it (false); null for the rule of the installation. */
  audio_only: boolean | null;
  /** The part of the file that the ticket or the import asks for. Null: all of it. */
  trim: JSONColumnType<components['schemas']['Trim']> | null;
  /** The image that all renditions show, and where; null without one. */
  watermark: JSONColumnType<components['schemas']['VideoWatermark']> | null;
  /** Bytes and SHA-256 (hex) of the source; null until uploaded. */
  size: number | null;
  sha256: string | null;
  source: JSONColumnType<SourceColumn> | null;
  input_issues: JSONColumnType<InputIssue[], string | undefined>;
  duration: number | null;
  width: number | null;
  height: number | null;
  frame_rate: number | null;
  /** Video renditions in the master playlist, lowest first; null until ready. */
  variants: RungName[] | null;
  /** Video renditions that can be played while the open attempt encodes them; null without a preview. */
  preview_variants: RungName[] | null;
  /** EXT-X-TARGETDURATION of every rendition; null until ready. */
  target_duration: number | null;
  /** The layout of the storyboard; null until ready, and without one. */
  storyboard: JSONColumnType<Omit<Storyboard, 'bytes'>> | null;
  /** The image in `posters`, which takes the place of the poster in the object store; null without one. */
  /** The second whose frame is the poster; null unless a client has chosen one. */
  poster_time: number | null;
  chosen_poster: JSONColumnType<Omit<components['schemas']['Poster'], 'bytes'>> | null;
  /** The number of its chapters, so that lists do not count them. */
  chapter_count: Generated<number>;
  /** The timestamp of the first frame in the segments, in units of 1/90,000 s; null until ready. */
  start_timestamp: number | null;
  /** The sum of the `bytes` of its artifacts, so that lists and quotas do not add them up. */
  storage_bytes: Generated<number>;
  /** 0..100. Only a retry of the failed video lowers it, to 0. */
  progress: Generated<number>;
  /** Number of the latest attempt, 0 before the first. The fencing token of results. */
  attempt: Generated<number>;
  /** Whether the next attempts transcode the video as a whole, because its tasks could not be completed as planned. */
  as_a_whole: Generated<boolean>;
  /** Sealed AES-128 key of the latest attempt that has started; erased when the video fails or is deleted. */
  content_key: string | null;
  error_code: FailureCode | null;
  error_message: string | null;
  created_at: CreatedAt;
  updated_at: Generated<Date>;
  uploaded_at: Date | null;
  ready_at: Date | null;
  /** When the video failed; null in every other status. */
  failed_at: Date | null;
  /** When the video was retried, oldest first; the latest 100. */
  retried_at: Generated<Date[]>;
  /** Days after `ready_at` or `failed_at` for which the source is kept: null for always, 0 for never. */
  keep_source_days: number | null;
  /** When the source of a ready or failed video is to be deleted; null for a source that is kept, and without one. */
  delete_source_at: Date | null;
  /** When the source was deleted. Its objects are purged from then on. */
  source_deleted_at: Date | null;
  /** When a video that was created with a test key is to be deleted; null for other videos. */
  remove_at: Date | null;
  /** Set on a tombstone: the row of a deleted video, which holds ids, status and times for the purge. */
  deleted_at: Date | null;
  /** The trace that created the video; null without one. Work that follows from no other trace continues it. */
  traceparent: string | null;
};
export type VideoRow = Selectable<VideosTable>;

type UploadTicketsTable = {
  video_id: string;
  /** SHA-256 of the token. */
  token_hash: Buffer;
  expires_at: Date;
  /** The transfer that leases the ticket; null before the first and after one that was aborted. */
  transfer_id: string | null;
  lease_expires_at: Date | null;
  /** The id of the claim of the latest form; null if its engine sent none. */
  claim_id: string | null;
  /** Bytes that the latest transfer announced, or else its maximum. */
  announced_bytes: number | null;
  /** The size of the file, if the client declared it. The file cannot be larger. */
  declared_bytes: number | null;
  /** Bytes of the quota reserved for the file, until the ticket ends: the declared ones, or those of the latest transfer. */
  reserved_bytes: Generated<number>;
  /** Bytes of ended transfers that may still be stored. They count against the quota until a purge has removed them. */
  unpurged_bytes: Generated<number>;
  /** When the upload completed. The token cannot be used again. */
  used_at: Date | null;
  /** Progress of a resumable upload makes the ticket valid for this long, up to the latest expiry. */
  extension_seconds: number;
  latest_expires_at: Date;
};
export type UploadTicketRow = Selectable<UploadTicketsTable>;

type ImportsTable = {
  video_id: string;
  /** That of the video, for the index by turn. */
  workspace_id: string;
  /** The id of the latest claim; null if its engine sent none. */
  claim_id: string | null;
  /** The URL without its query: what the record shows. */
  shown_url: string;
  /** Sealed JSON with the URL and the headers; erased when the import ends. */
  request: string | null;
  /** When the video fails if the file has not arrived. */
  deadline: Date;
  /** When an engine should fetch the file; null once the import has ended. The claim of an engine expires at `claimed_until`. */
  due_at: Date | null;
  claimed_until: Date | null;
  /** The latest transfer. Requests about any other change nothing. */
  transfer_id: string | null;
  /** Bytes received, and the size that the server declares. */
  bytes: Generated<number>;
  total_bytes: number | null;
  /** Failed tries, why the latest of them failed, and when the next one begins. */
  tries: Generated<number>;
  failure: ImportTryFailure | null;
  next_try_at: Date | null;
  /** Whether the file changed during the import, so that it began again. */
  started_over: Generated<boolean>;
};
export type ImportRow = Selectable<ImportsTable>;

type ResumableUploadsTable = {
  transfer_id: string;
  video_id: string;
  /** Bytes of the file. */
  length: number;
  /** The `Upload-Metadata` header of its creation. */
  metadata: string;
  /** Counts how often an engine has opened it. The fencing token of what engines report. */
  epoch: Generated<number>;
  /** The id of the claim that has begun the epoch; null if its engine sent none. */
  claim_id: string | null;
  /** Its progress in the object store; null before an engine has opened it. */
  checkpoint: JSONColumnType<Checkpoint> | null;
  ended_at: Date | null;
  end_reason: 'completed' | 'terminated' | 'superseded' | null;
};

/** The videos that are clips of others. */
type ClipsTable = {
  video_id: string;
  /** The video that it is made of, which may have been deleted since. */
  parent_id: string;
  /** Its frames in that video, counted in the top rendition. */
  first_frame: number;
  frames: number;
  /** When these begin and end, in seconds. */
  starts_at: number;
  ends_at: number;
  /** Bytes of the stored segments that it is made from: about as many as it will have. */
  stored_bytes: number;
  /** Bytes of those that its engine has on its disk: the others go through its memory. */
  disk_bytes: number;
};
export type ClipRow = Selectable<ClipsTable>;

export type AttemptOutcome = 'completed' | 'failed' | 'lease_expired' | 'handed_back';

type AttemptsTable = {
  video_id: string;
  number: number;
  /** When an engine may begin. */
  due_at: Date;
  /** When an engine has begun; null while the attempt waits for one. */
  started_at: Date | null;
  /** The id of the latest claim of its first task; null if its engine sent none. */
  claim_id: string | null;
  /** Set once the attempt is planned; null again if it ends without a result. A completed attempt keeps it for work after `ready`. */
  plan: JSONColumnType<TaskPlan> | null;
  /** The number of the next task that is added. */
  next_task: Generated<number>;
  /** What else the plan says; set while the attempt is open and planned. */
  planned: JSONColumnType<PlannedAttempt> | null;
  /** The hash that the planning engine computed; null if the hash was known before. */
  source_sha256: string | null;
  /** Null while it runs. */
  outcome: AttemptOutcome | null;
  finished_at: Date | null;
};
export type AttemptRow = Selectable<AttemptsTable>;

/** What only the control plane needs of a plan. Its tasks have rows of their own. */
export type PlannedAttempt = Pick<TranscodePlan, 'facts' | 'optionalTasks'>;

/** The tasks of open attempts, and those of ready videos: of outputs that the video did not wait for, and derivations. */
type TasksTable = {
  video_id: string;
  /** That of the video, for the index by turn. */
  workspace_id: string;
  attempt: number;
  number: number;
  kind: TaskKind;
  /** The type of the commands that announce it. */
  command: CommandType;
  /** What it is to do; null for the task that plans. */
  work: JSONColumnType<Work> | null;
  /** Bytes of the stored renditions that a derivation reads; null for a task that reads the source. */
  input_bytes: number | null;
  /** Its part of the work, in frames of the top rendition. 0 while the video is planned, and for a derivation. */
  frames: number;
  /** 0..1, of the latest try. */
  progress: Generated<number>;
  /** Tries that an engine has begun. The fencing token of results. */
  tries: Generated<number>;
  /** Failed tries; handed-back ones do not count. */
  failed_tries: Generated<number>;
  /** The id of the claim of the latest try; null if its engine sent none. */
  claim_id: string | null;
  /** Whether the engine has reported anything about this try. */
  reported: Generated<boolean>;
  /** Tries in a row whose lease expired before the engine reported anything. */
  unreported_tries: Generated<number>;
  /** When an engine may begin the next try. */
  due_at: Generated<Date>;
  /** When a command is to be published; null when none is. Its claim expires at `command_claimed_until`. */
  command_due_at: Date | null;
  command_claimed_until: Date | null;
  /** When the queue confirmed the command of a task that waits. */
  command_published_at: Date | null;
  /** Null while it waits and when it is done. */
  lease_expires_at: Date | null;
  started_at: Date | null;
  /** The renditions whose first segment it has stored. */
  started_renditions: Generated<StartedRenditions>;
  /** Null until it is done. */
  result: JSONColumnType<TaskResult> | null;
  /** The trace that added it; null without one. */
  traceparent: string | null;
};

/** What engines announce about themselves. An engine that ends deletes its row. */
type EnginesTable = {
  id: string;
  host: string;
  /** The port of its internal listener. */
  port: number;
  state: 'working' | 'stopping';
  roles: ('upload' | 'transcode')[];
  version: string;
  node_version: string;
  ffmpeg_version: string | null;
  /** The interface of the device that encodes video, and why the device is refused. */
  hardware: Hardware | null;
  hardware_refusal: string | null;
  slots: number;
  slots_busy: number;
  tasks: number;
  uploads: number;
  imports: number;
  disk_free_bytes: number | null;
  started_at: Date;
  last_seen_at: Date;
};
export type EngineRow = Selectable<EnginesTable>;

type RenditionsTable = {
  video_id: string;
  name: RenditionName;
  codecs: string;
  width: number | null;
  height: number | null;
  frame_rate: number | null;
  /** Null for audio and for standard range. */
  video_range: VideoRange | null;
  channels: number | null;
  language: string | null;
  /**
   * The label that players show, and the role of the audio. Both are null for video; the role is also null
   * for ordinary audio.
   */
  label: string | null;
  role: AudioRole | null;
  /** Measured peak and average, in bits per second. */
  bandwidth: number;
  average_bandwidth: number;
  /** Seconds and bytes of each segment, in play order; the arrays are equally long. */
  segment_durations: number[];
  segment_bytes: number[];
  /** The initialization section of all segments; null if the packaging has none. */
  initialization: Buffer | null;
};
export type RenditionRow = Selectable<RenditionsTable>;

/** Captions of one language. */
type CaptionsTable = {
  video_id: string;
  /** Canonical BCP 47. */
  language: string;
  label: string;
  is_default: boolean;
  origin: 'person' | 'file' | 'machine';
  /** The `playback_version` of the video when these captions were stored. */
  revision: number;
  cue_count: number;
  /** Times of each cue in milliseconds, by increasing start. */
  cue_starts: number[];
  cue_ends: number[];
  /** Each cue as a block of WebVTT. */
  cues: string[];
  updated_at: Generated<Date>;
};
export type CaptionsRow = Selectable<CaptionsTable>;

/** The chapters of a video. */
type ChaptersTable = {
  video_id: string;
  /** Whether a client has set them, or they come from the file. */
  origin: 'person' | 'file';
  /** Milliseconds from the first frame, ascending. */
  starts: number[];
  /** Plain text. */
  titles: string[];
  updated_at: Generated<Date>;
};
export type ChaptersRow = Selectable<ChaptersTable>;

/** The JPEG images that clients have set. */
type PostersTable = { video_id: string; image: Buffer };

/** Images of watermarks. They never change. */
type WatermarksTable = {
  id: string;
  workspace_id: string;
  name: string | null;
  format: WatermarkFormat;
  /** Pixels. */
  width: number;
  height: number;
  /** The length of `image`. */
  bytes: number;
  image: Buffer;
  created_at: CreatedAt;
  /** From then on new videos cannot use it; the row is removed when no video needs it. */
  deleted_at: Date | null;
};
export type WatermarkRow = Selectable<WatermarksTable>;

/** The files that clients have asked for to download. The artifact of one that is ready has its size and its place. */
type DownloadsTable = {
  video_id: string;
  name: DownloadName;
  status: Generated<'preparing' | 'ready' | 'failed'>;
  /** Why it could not be made; null unless that failed. */
  error_code: components['schemas']['DownloadError']['code'] | null;
  error_message: string | null;
  created_at: CreatedAt;
  ready_at: Date | null;
};
export type DownloadRow = Selectable<DownloadsTable>;

/** The captions that clients have asked for from speech recognition. */
type AutoCaptionsTable = {
  video_id: string;
  /** Canonical BCP 47; empty if the language is to be detected. */
  requested: string;
  /** That of the captions; null until they are ready. */
  language: string | null;
  status: Generated<'preparing' | 'ready' | 'failed'>;
  /** Why they could not be made; null unless that failed. */
  error_code: components['schemas']['AutoCaptionsError']['code'] | null;
  error_message: string | null;
  created_at: CreatedAt;
  ready_at: Date | null;
};
export type AutoCaptionsRow = Selectable<AutoCaptionsTable>;

/** The still and moving pictures that clients have asked for. The artifact of one that is ready has its size and its place. */
type PicturesTable = {
  video_id: string;
  workspace_id: string;
  /** Says everything about the picture; see picture-plan.ts. */
  name: string;
  status: Generated<'preparing' | 'ready' | 'failed'>;
  /** The last use, to the hour, or when the picture failed. Those that were not used for longest are deleted first. */
  used_at: Generated<Date>;
};
export type PictureRow = Selectable<PicturesTable>;

/** The stored files of a video that it refers to: a row for each file, or for the segments of a rendition that one task has stored. */
type ArtifactsTable = {
  video_id: string;
  kind: ArtifactKind;
  /** The rendition or the language; empty for kinds of which a video has one. */
  name: Generated<string>;
  first_segment: Generated<number>;
  /** The attempt that made it; null for what was uploaded. */
  attempt: number | null;
  /** The folder of its transfer, or that of the try of its task within the attempt; null for a file in the database. */
  folder: string | null;
  bytes: number;
};

/** What is stored of a video. */
export type ArtifactKind = 'source' | 'chosen_poster' | 'captions' | OutputArtifact;

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

/** At most one row: the timeline of this database, from its first backup on, and its last complete backup. */
type BackupStateTable = {
  id: Generated<boolean>;
  /** Names the history of this database. A restored database gets another one. */
  timeline: string;
  backup_id: string | null;
  /** The time of the rows that the backup has. */
  snapshot_at: Date | null;
  completed_at: Date | null;
  objects: number | null;
  bytes: number | null;
  /** Objects that rows name, but that were not stored. */
  missing: number | null;
};

type UsageDailyTable = {
  workspace_id: string;
  environment: Environment;
  /** A day in UTC. Select it as text: pg reads a date as midnight in the time zone of the process. */
  day: ColumnType<Date, string, never>;
  /** Duration of the sources of videos that became ready, in milliseconds. */
  transcoded_ms: Generated<number>;
  /** Bytes sent from /hls. */
  bandwidth_bytes: Generated<number>;
  /** Stored bytes at the last recording of the day; null without a recording. */
  storage_bytes: number | null;
};

/** A day in UTC. Select it as text. */
type Day = ColumnType<Date, string, never>;

/** What viewers have reported of one playback. Each column only grows, so a repeated or a late report changes nothing. */
type ViewSessionsTable = {
  /** The day of the first report. */
  day: Day;
  video_id: string;
  session_id: string;
  /** A hash that is the same for all playbacks of one viewer on one day. */
  visitor: Buffer | null;
  /** A bit for each hundredth of the video. */
  watched: string;
  /** The same for each rung, lowest first. */
  watched_at_rungs: string;
  /** A bit for each hundredth in which a request for a segment reported an empty buffer. */
  stalled: string;
  /** Null if only requests for segments are known. */
  watch_ms: number | null;
  startup_ms: number | null;
  stalls: number;
  stall_ms: number;
  error: string | null;
  device: string;
  country: string | null;
};

type ViewChangesTable = { video_id: string; day: Day; changes: Generated<number> };

/** The key of the hashes of a day, which is deleted after the day. */
type ViewSaltsTable = { day: Day; salt: Buffer };

/** The figures of one video on one day, summed up from `view_sessions`. */
type ViewsDailyTable = {
  video_id: string;
  day: Day;
  workspace_id: string;
  environment: Environment;
  views: number;
  unique_viewers: number;
  watch_ms: number;
  stalls: number;
  stall_ms: number;
  /** The number of views that include each hundredth of the video. */
  retention: number[];
  /** Counts by kind and name. */
  breakdowns: JSONColumnType<Record<string, Record<string, number>>>;
};

/** The viewers of all videos of a workspace on one day. */
type ViewersDailyTable = {
  workspace_id: string;
  environment: Environment;
  day: Day;
  unique_viewers: number;
};

/** An event that an endpoint can subscribe to. */
export type WebhookEventType = components['schemas']['WebhookEventType'];
/** An event that can be delivered: one of those, or a test event. */
export type WebhookEventKind = components['schemas']['WebhookDelivery']['eventType'];
export type DeliveryStatus = components['schemas']['WebhookDelivery']['status'];
/** Why an attempt of a delivery failed. */
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
  /** Sealed, like the previous one. Both sign until the previous one expires. */
  secret: string;
  previous_secret: string | null;
  previous_secret_expires_at: Date | null;
  /** Failed delivery attempts since the last successful one, and when the first of them was. */
  consecutive_failures: Generated<number>;
  failing_since: Date | null;
  /** Null until the first delivery attempt at the current URL. */
  last_attempt_at: Date | null;
  created_at: CreatedAt;
  updated_at: Generated<Date>;
};
export type WebhookEndpointRow = Selectable<WebhookEndpointsTable>;

type WebhookEventsTable = {
  id: string;
  workspace_id: string;
  type: WebhookEventKind;
  /** JSON, exactly as it is sent. */
  payload: string;
  /** The trace in which it happened; null without one. */
  traceparent: string | null;
  created_at: CreatedAt;
  /** Its place among the events of the workspace, in microseconds of Unix time. A trigger sets it when the transaction commits. */
  position: ColumnType<string | null, never, never>;
  /** The video that it is about; null for a test event. */
  video_id: string | null;
};

type WebhookDeliveriesTable = {
  id: string;
  endpoint_id: string;
  event_id: string;
  status: Generated<DeliveryStatus>;
  /** Delivery attempts made so far. */
  attempts: Generated<number>;
  /** Delivery attempts that failed since the event or the last redelivery: the place in the retry schedule. */
  failures: Generated<number>;
  /** Null when no further attempt of the delivery is scheduled. */
  next_attempt_at: Date | null;
  /** When the last attempt of the delivery began, and its result. */
  last_attempt_at: Date | null;
  response_status: number | null;
  /** Of the last attempt, or `webhook_disabled` when the next one was given up. */
  failure: DeliveryFailure | null;
  created_at: CreatedAt;
  /** When the claim of the attempt in progress expires; also the fencing token of the claim. Null between attempts. */
  claimed_until: Date | null;
  /** 1, and one more for each redelivery. An attempt of an earlier round does not reschedule the delivery. */
  round: Generated<number>;
};
export type WebhookDeliveryRow = Selectable<WebhookDeliveriesTable>;

type DeliveryAttemptsTable = {
  delivery_id: string;
  number: number;
  at: Date;
  duration_ms: number;
  response_status: number | null;
  failure: DeliveryFailure | null;
  /** The beginning of the response body as text; null without a response. */
  response_body: string | null;
  /** Without the signature; null if no request was sent. */
  request_headers: Record<string, string> | null;
};
export type DeliveryAttemptRow = Selectable<DeliveryAttemptsTable>;

type IdempotencyKeysTable = {
  workspace_id: string;
  /** SHA-256 of the path and the key, and of the request body. */
  key_hash: Buffer;
  payload_hash: Buffer;
  /** When the lease of the request in progress expires; null once its response is stored. */
  leased_until: Date | null;
  /** The stored response, without one-time members; null until it is stored. */
  status: number | null;
  location: string | null;
  body: JSONColumnType<Record<string, unknown>> | null;
  /** When a request leased the key, for this payload. */
  created_at: Generated<Date>;
};
export type IdempotencyKeyRow = Selectable<IdempotencyKeysTable>;

/** A request of an API key, without secrets and texts (ADR 100). */
type RequestLogTable = {
  id: string;
  workspace_id: string;
  /** As in X-Request-Id: not unique, because clients can choose it. */
  request_id: string;
  key_id: string;
  key_last4: string;
  method: string;
  /** The path template, e.g. `/v1/videos/{id}`. */
  route: string;
  path: string;
  query: unknown;
  status: number;
  problem_code: string | null;
  duration_ms: number;
  request_headers: Record<string, string>;
  /** Null if it has no JSON body. */
  request_body: unknown;
  response_headers: Record<string, string>;
  response_body: unknown;
  /** Approximate size of the row. */
  bytes: number;
  created_at: Date;
};
export type RequestLogRow = Selectable<RequestLogTable>;

/** A trigger writes the rows, in the transaction of the change. Another one refuses all changes of them (ADR 101). */
type AuditEventsTable = {
  id: ColumnType<string, never, never>;
  workspace_id: ColumnType<string, never, never>;
  actor_type: ColumnType<components['schemas']['AuditActor']['type'], never, never>;
  actor_id: ColumnType<string | null, never, never>;
  actor_name: ColumnType<string, never, never>;
  /** The operationId, or the command of the command line. */
  operation: ColumnType<string, never, never>;
  request_id: ColumnType<string | null, never, never>;
  action: ColumnType<components['schemas']['AuditEvent']['action'], never, never>;
  resource_type: ColumnType<components['schemas']['AuditResource']['type'], never, never>;
  resource_id: ColumnType<string, never, never>;
  /** Which of the captions or downloads of a video; null for others. */
  resource_part: ColumnType<string | null, never, never>;
  /** Names of changed columns. */
  fields: ColumnType<string[], never, never>;
  /** Old and new value of changed columns that have no text of a person. */
  changes: ColumnType<Record<string, [ChangedValue, ChangedValue]>, never, never>;
  created_at: ColumnType<Date, never, never>;
};
export type AuditEventRow = Selectable<AuditEventsTable>;
export type ChangedValue = components['schemas']['AuditChange']['from'];
