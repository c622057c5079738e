import { FAILURE_CODES, type FailureCode } from '@framelane/contracts/failures';
import { Counter, Histogram, Registry } from 'prom-client';
import type { AttemptOutcome, DeliveryStatus, DisabledReason } from '../db/schema.ts';

/** What is sent from /hls. */
export type HlsKind = 'playlist' | 'segment' | 'key' | 'image';

const ATTEMPT_OUTCOMES: readonly AttemptOutcome[] = ['completed', 'failed', 'lease_expired', 'handed_back'];
const DELIVERY_OUTCOMES: readonly DeliveryStatus[] = ['succeeded', 'retrying', 'failed'];
const DISABLED_REASONS: readonly DisabledReason[] = ['gone', 'failing'];
const MAINTENANCE_STEPS = [
  'expire-tickets',
  'remove-outdated-videos',
  'end-silent-attempts',
  'reissue-lost-commands',
  'abort-stale-uploads',
  'prune-idempotency-keys',
  'reseal-secrets',
  'prune-webhook-events',
  'prune-tombstones',
] as const;

/** A periodic step of maintenance. */
export type MaintenanceStep = (typeof MAINTENANCE_STEPS)[number];

const HLS_KINDS: readonly HlsKind[] = ['playlist', 'segment', 'key', 'image'];

/** Upper bounds in seconds of the time from upload to `ready`. */
const PROCESSING_TIMES = [5, 10, 30, 60, 120, 300, 600, 1800, 3600, 10_800];

/**
 * Counts what happens in this control plane. Domain code says what happened, after the transaction that made it so; how
 * it is exposed is known here alone. Labels come from short lists that are written in the code, and every value a
 * counter can have is there from the start, as zero.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly #registers = [this.registry];

  readonly #uploads = new Counter({
    name: 'framelane_uploads_completed_total',
    help: 'Files taken in',
    registers: this.#registers,
  });
  readonly #videos = new Counter({
    name: 'framelane_videos_finished_total',
    help: 'Videos that became ready or failed, failed ones by code',
    labelNames: ['outcome', 'code'],
    registers: this.#registers,
  });
  readonly #processingTimes = new Histogram({
    name: 'framelane_video_processing_seconds',
    help: 'Time from the completed upload to ready',
    buckets: PROCESSING_TIMES,
    registers: this.#registers,
  });
  readonly #attempts = new Counter({
    name: 'framelane_transcode_attempts_total',
    help: 'Attempts to transcode by how they ended; lease_expired are those lost with their engine',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #webhookAttempts = new Counter({
    name: 'framelane_webhook_attempts_total',
    help: 'Attempts to deliver an event by what became of the delivery',
    labelNames: ['outcome'],
    registers: this.#registers,
  });
  readonly #webhooksDisabled = new Counter({
    name: 'framelane_webhooks_disabled_total',
    help: 'Webhooks disabled because of their receivers, by reason',
    labelNames: ['reason'],
    registers: this.#registers,
  });
  readonly #maintenanceFailures = new Counter({
    name: 'framelane_maintenance_failures_total',
    help: 'Maintenance steps that failed',
    labelNames: ['step'],
    registers: this.#registers,
  });
  readonly #hlsResponses = new Counter({
    name: 'framelane_hls_responses_total',
    help: 'Answers from /hls that are no errors, by what was asked for',
    labelNames: ['kind'],
    registers: this.#registers,
  });
  readonly #hlsBytes = new Counter({
    name: 'framelane_hls_sent_bytes_total',
    help: 'Bytes of those answers, headers included',
    labelNames: ['kind'],
    registers: this.#registers,
  });

  constructor() {
    this.#videos.inc({ outcome: 'ready', code: '' }, 0);
    for (const code of FAILURE_CODES) this.#videos.inc({ outcome: 'failed', code }, 0);
    for (const outcome of ATTEMPT_OUTCOMES) this.#attempts.inc({ outcome }, 0);
    for (const outcome of DELIVERY_OUTCOMES) this.#webhookAttempts.inc({ outcome }, 0);
    for (const reason of DISABLED_REASONS) this.#webhooksDisabled.inc({ reason }, 0);
    for (const step of MAINTENANCE_STEPS) this.#maintenanceFailures.inc({ step }, 0);
    for (const kind of HLS_KINDS) {
      this.#hlsResponses.inc({ kind }, 0);
      this.#hlsBytes.inc({ kind }, 0);
    }
  }

  uploadCompleted(): void {
    this.#uploads.inc();
  }

  /** `seconds` since its upload was complete. */
  videoReady(seconds: number): void {
    this.#videos.inc({ outcome: 'ready', code: '' });
    this.#processingTimes.observe(seconds);
  }

  videoFailed(code: FailureCode): void {
    this.#videos.inc({ outcome: 'failed', code });
  }

  attemptEnded(outcome: AttemptOutcome): void {
    this.#attempts.inc({ outcome });
  }

  webhookAttempted(outcome: Exclude<DeliveryStatus, 'pending'>): void {
    this.#webhookAttempts.inc({ outcome });
  }

  webhookDisabled(reason: Exclude<DisabledReason, 'manual'>): void {
    this.#webhooksDisabled.inc({ reason });
  }

  maintenanceFailed(step: MaintenanceStep): void {
    this.#maintenanceFailures.inc({ step });
  }

  hlsSent(kind: HlsKind, bytes: number): void {
    this.#hlsResponses.inc({ kind });
    this.#hlsBytes.inc({ kind }, bytes);
  }
}
