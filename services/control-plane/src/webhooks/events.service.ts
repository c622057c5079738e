import { newId } from '@framelane/contracts/ids';
import type { webhooks } from '@framelane/openapi/types';
import { activeTraceparent } from '@framelane/service-kit/tracing';
import type { Database } from '../db/database.ts';
import type { Clock } from '../db/database-clock.ts';
import type { VideoRow, WebhookEventKind, WebhookEventType } from '../db/schema.ts';
import { insertDelivery, insertEvent } from './deliveries.store.ts';
import { findSubscribers } from './endpoints.store.ts';

/** The data of a type of event, as its message in the contract says. */
export type EventData<Type extends WebhookEventType> =
  webhooks[Type]['post']['requestBody']['content']['application/json']['data'];

/** A new event. Every endpoint gets these bytes as payload. */
export type NewEvent = { id: string; workspaceId: string; type: WebhookEventKind; payload: string };

/** Records events, and deliveries to the endpoints that subscribe to them. */
export class WebhookEventsService {
  readonly #clock: Clock;
  readonly #firstDelaySeconds: number;

  constructor(clock: Clock, settings: { retryScheduleSeconds: readonly number[] }) {
    this.#clock = clock;
    this.#firstDelaySeconds = settings.retryScheduleSeconds[0] ?? 0;
  }

  /**
   * Records an event and a delivery for each subscribed endpoint, in the transaction of the change.
   */
  async record<Type extends WebhookEventType>(
    trx: Database,
    type: Type,
    { workspace_id: workspaceId, traceparent }: Pick<VideoRow, 'workspace_id' | 'traceparent'>,
    data: EventData<Type>,
  ): Promise<void> {
    const event = newEvent(type, workspaceId, data, this.#clock.now());
    // Without a current trace, such as at a timeout, the deliveries continue that of the video.
    await insertEvent(trx, { ...event, traceparent: activeTraceparent() ?? traceparent });
    for (const endpointId of await findSubscribers(trx, workspaceId, type)) {
      await insertDelivery(trx, {
        id: newId('dlv'),
        eventId: event.id,
        endpointId,
        delaySeconds: this.#firstDelaySeconds,
      });
    }
  }
}

/** An event with a new id. */
export function newEvent(type: WebhookEventKind, workspaceId: string, data: object, time: Date): NewEvent {
  const id = newId('evt');
  const timestamp = time.toISOString();
  return { id, workspaceId, type, payload: JSON.stringify({ id, type, timestamp, workspaceId, data }) };
}
