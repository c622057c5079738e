import type { components } from '@framelane/openapi/types';
import type { DeliveryAttemptRow, DeliveryFailure, WebhookEndpointRow } from '../db/schema.ts';
import type { DeliveryWithType } from './deliveries.store.ts';
import { FAILURE_MESSAGES } from './delivery-failures.ts';

export type WebhookRecord = components['schemas']['Webhook'];
export type DeliveryRecord = components['schemas']['WebhookDelivery'];
export type DeliveryDetails = components['schemas']['WebhookDeliveryDetails'];

/** The public record of an endpoint, without its secrets. `last` is its most recently attempted delivery. */
export function toWebhookRecord(row: WebhookEndpointRow, last: DeliveryWithType | undefined): WebhookRecord {
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    events: row.events,
    enabled: row.enabled,
    deliveryStatus: deliveryStatus(row),
    lastDelivery: last === undefined ? null : toSummary(last),
    consecutiveFailures: row.consecutive_failures,
    failingSince: row.failing_since?.toISOString() ?? null,
    disabledReason: row.disabled_reason,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** The public record of a delivery with all of its attempts. */
export function toDeliveryRecord(
  row: DeliveryWithType,
  attempts: readonly DeliveryAttemptRow[],
): DeliveryRecord {
  return {
    ...toSummary(row),
    createdAt: row.created_at.toISOString(),
    attemptLog: attempts.map((attempt) => ({
      number: attempt.number,
      at: attempt.at.toISOString(),
      durationMs: attempt.duration_ms,
      responseStatus: attempt.response_status,
      error: toError(attempt.failure),
    })),
  };
}

/** A delivery with what its attempts sent and received. */
export function toDeliveryDetails(
  row: DeliveryWithType,
  attempts: readonly DeliveryAttemptRow[],
  requestBody: string,
): DeliveryDetails {
  const record = toDeliveryRecord(row, attempts);
  const attemptLog = record.attemptLog.map((entry, index) => ({
    ...entry,
    requestHeaders: attempts[index]?.request_headers ?? null,
    responseBody: attempts[index]?.response_body ?? null,
  }));
  return { ...record, requestBody, attemptLog };
}

function deliveryStatus(row: WebhookEndpointRow): WebhookRecord['deliveryStatus'] {
  if (!row.enabled) return 'disabled';
  if (row.failing_since !== null) return 'failing';
  return row.last_attempt_at === null ? 'pending' : 'healthy';
}

function toSummary(row: DeliveryWithType): components['schemas']['WebhookDeliverySummary'] {
  return {
    id: row.id,
    eventId: row.event_id,
    eventType: row.event_type,
    status: row.status,
    attempts: row.attempts,
    responseStatus: row.response_status,
    error: toError(row.failure),
    at: row.last_attempt_at?.toISOString() ?? null,
    nextAttemptAt: row.next_attempt_at?.toISOString() ?? null,
  };
}

function toError(failure: DeliveryFailure | null): DeliveryRecord['error'] {
  return failure === null ? null : { code: failure, message: FAILURE_MESSAGES[failure] };
}
