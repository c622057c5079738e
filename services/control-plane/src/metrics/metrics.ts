import { FAILURE_CODES, type FailureCode } from '@framelane/contracts/failures';
import { TASK_KINDS, type TaskKind } from '@framelane/contracts/outputs/tasks';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { AttemptOutcome, DeliveryStatus, DisabledReason } from '../db/schema.ts';

/** What a response below /hls contains. */
export type HlsKind = 'playlist' | 'segment' | 'key' | 'image';

const ATTEMPT_OUTCOMES: readonly AttemptOutcome[] = ['completed', 'failed', 'lease_expired', 'handed_back'];
const DELIVERY_OUTCOMES: readonly DeliveryStatus[] = ['succeeded', 'retrying', 'failed'];
const DISABLED_REASONS: readonly DisabledReason[] = ['gone', 'failing'];
const MAINTENANCE_STEPS = [
  'expire-tickets',
  'expire-imports',
  'remove-outdated-videos',
  'delete-due-sources',
  'end-expired-tasks',
  'reissue-lost-commands',
  'abort-stale-uploads',
  'prune-idempotency-keys',
  'prune-console-sessions',
  'prune-watermarks',
  'prune-engines',
  'record-stored-bytes',
  'roll-up-views',
  'keep-view-days',
  'reseal-secrets',
  'prune-webhook-events',
  'prune-tombstones',
  'keep-request-days',
  'prune-audit-events',
] as const;

/** A periodic step of maintenance. */
export type MaintenanceStep = (typeof MAINTENANCE_STEPS)[number];

/** Where a segment or an image came from: the cache, the read of a concurrent request, or a read of its own. */
export type SegmentLookup = 'hit' | 'coalesced' | 'miss';

const SEGMENT_LOOKUPS: readonly SegmentLookup[] = ['hit', 'coalesced', 'miss'];
const HLS_KINDS: readonly HlsKind[] = ['playlist', 'segment', 'key', 'image'];

/** Upper bounds in seconds of the time from upload to `ready`. */
const PROCESSING_TIMES = [5, 10, 30, 60, 120, 300, 600, 1800, 3600, 10_800];

/** Upper bounds in seconds of the time from upload to the first preview. */
const PREVIEW_TIMES = [2, 5, 10, 15, 30, 60, 120, 300, 600, 1800];

/**
 * Counters of this control plane. Domain code reports an event when it is committed. Only this class knows names and
 * labels. Label values come from fixed lists, and every series exists from the start, with the value 0.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly #registers = [this.registry];

  readonly #uploads = new Counter({
    name: 'framelane_uploads_completed_total',
    help: 'Completed uploads',
    registers: this.#registers,
  });
  readonly #videos = new Counter({
    name: 'framelane_videos_finished_total',
    help: 'Videos that became ready, or failed with a code',
    labelNames: ['outcome', 'code'],
    registers: this.#registers,
  });
  readonly #processingTimes = new Histogram({
    name: 'framelane_video_processing_duration_seconds',
    help: 'Time from the completed upload to ready',
    buckets: PROCESSING_TIMES,
    registers: this.#registers,
  });
  readonly #previewTimes = new Histogram({
    name: 'framelane_video_preview_delay_seconds',
    help: 'Time from the completed upload of a video until it can be played, in its first attempt',
    buckets: PREVIEW_TIMES,
    registers: this.#registers,
  });
  readonly #attempts = new Counter({
    name: 'framelane_transcode_attempts_total',
    help: 'Attempts at videos by outcome; lease_expired when the engine did not renew its lease',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #tasks = new Counter({
    name: 'framelane_tasks_total',
    help: 'Tries of tasks by outcome; lease_expired when the engine did not renew its lease',
    labelNames: ['kind', 'outcome'],
    registers: this.#registers,
  });
  readonly #deliveryAttempts = new Counter({
    name: 'framelane_webhook_delivery_attempts_total',
    help: 'Webhook delivery attempts by the status of the delivery afterwards',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #webhooksDisabled = new Counter({
    name: 'framelane_webhooks_disabled_total',
    help: 'Webhooks disabled automatically, by reason',
    labelNames: ['reason'],
    registers: this.#registers,
  });
  readonly #maintenanceFailures = new Counter({
    name: 'framelane_maintenance_failures_total',
    help: 'Maintenance steps that failed',
    labelNames: ['step'],
    registers: this.#registers,
  });
  readonly #requestsNotLogged = new Counter({
    name: 'framelane_request_log_dropped_total',
    help: 'Requests missing from the request log, because the buffer was full, the database failed, the clock was wrong, or the entry could not be made',
    labelNames: ['reason'],
    registers: this.#registers,
  });
  readonly #hlsResponses = new Counter({
    name: 'framelane_hls_responses_total',
    help: 'Successful responses below /hls, by content',
    labelNames: ['kind'],
    registers: this.#registers,
  });
  readonly #hlsBytes = new Counter({
    name: 'framelane_hls_response_bytes_total',
    help: 'Bytes sent in successful responses below /hls, headers included',
    labelNames: ['kind'],
    registers: this.#registers,
  });
  readonly #segmentLookups = new Counter({
    name: 'framelane_segment_cache_requests_total',
    help: 'Requests for segments and images by result: hit, coalesced with the read of another request, or miss',
    labelNames: ['result'],
    registers: this.#registers,
  });
  readonly #refusedReads = new Counter({
    name: 'framelane_stored_file_refusals_total',
    help: 'Requests for stored files that failed because too many were in progress',
    registers: this.#registers,
  });

  readonly #viewReports = new Counter({
    name: 'framelane_view_reports_total',
    help: 'Reports of viewers by result: accepted, or dropped because there were too many',
    labelNames: ['result'],
    registers: this.#registers,
  });

  constructor() {
    for (const result of ['accepted', 'dropped']) this.#viewReports.inc({ result }, 0);
    this.#videos.inc({ outcome: 'ready', code: '' }, 0);
    for (const code of FAILURE_CODES) this.#videos.inc({ outcome: 'failed', code }, 0);
    for (const outcome of ATTEMPT_OUTCOMES) {
      this.#attempts.inc({ outcome }, 0);
      for (const kind of TASK_KINDS) this.#tasks.inc({ kind, outcome }, 0);
    }
    for (const outcome of DELIVERY_OUTCOMES) this.#deliveryAttempts.inc({ outcome }, 0);
    for (const reason of DISABLED_REASONS) this.#webhooksDisabled.inc({ reason }, 0);
    for (const step of MAINTENANCE_STEPS) this.#maintenanceFailures.inc({ step }, 0);
    for (const reason of ['full', 'database', 'clock', 'failed']) this.#requestsNotLogged.inc({ reason }, 0);
    for (const result of SEGMENT_LOOKUPS) this.#segmentLookups.inc({ result }, 0);
    for (const kind of HLS_KINDS) {
      this.#hlsResponses.inc({ kind }, 0);
      this.#hlsBytes.inc({ kind }, 0);
    }
  }

  viewReported(result: 'accepted' | 'dropped'): void {
    this.#viewReports.inc({ result });
  }

  uploadCompleted(): void {
    this.#uploads.inc();
  }

  /** `seconds` since the upload was completed. */
  videoReady(seconds: number): void {
    this.#videos.inc({ outcome: 'ready', code: '' });
    this.#processingTimes.observe(seconds);
  }

  /** `seconds` since the upload was completed. */
  previewOffered(seconds: number): void {
    this.#previewTimes.observe(seconds);
  }

  videoFailed(code: FailureCode): void {
    this.#videos.inc({ outcome: 'failed', code });
  }

  attemptEnded(outcome: AttemptOutcome): void {
    this.#attempts.inc({ outcome });
  }

  taskEnded(kind: TaskKind, outcome: AttemptOutcome): void {
    this.#tasks.inc({ kind, outcome });
  }

  deliveryAttempted(outcome: Exclude<DeliveryStatus, 'pending'>): void {
    this.#deliveryAttempts.inc({ outcome });
  }

  webhookDisabled(reason: Exclude<DisabledReason, 'manual'>): void {
    this.#webhooksDisabled.inc({ reason });
  }

  /** Requests that the log of their workspace will not have. */
  requestsNotLogged(reason: 'full' | 'database' | 'clock' | 'failed', count: number): void {
    this.#requestsNotLogged.inc({ reason }, count);
  }

  maintenanceFailed(step: MaintenanceStep): void {
    this.#maintenanceFailures.inc({ step });
  }

  hlsSent(kind: HlsKind, bytes: number): void {
    this.#hlsResponses.inc({ kind });
    this.#hlsBytes.inc({ kind }, bytes);
  }

  segmentRequested(result: SegmentLookup): void {
    this.#segmentLookups.inc({ result });
  }

  storedFileRefused(): void {
    this.#refusedReads.inc();
  }

  /** Registers gauges of the memory that stored files use, in bytes. */
  observeStoredFiles(bytes: { cached: () => number; unsent: () => number }): void {
    new Gauge({
      name: 'framelane_stored_file_memory_bytes',
      help: 'Memory used for stored files: cached, or unsent because clients have not received it',
      labelNames: ['use'],
      registers: this.#registers,
      collect() {
        this.set({ use: 'cached' }, bytes.cached());
        this.set({ use: 'unsent' }, bytes.unsent());
      },
    });
  }
}
