import { newId } from '@framelane/contracts/ids';
import type { webhooks } from '@framelane/openapi/types';
import { activeTraceparent } from '@framelane/service-kit/tracing';
import type { Database } from '../db/database.ts';
import type { Clock } from '../db/database-clock.ts';
import type { VideoRow, WebhookEventKind, WebhookEventType } from '../db/schema.ts';
import { deleteUnsentEvents, insertDelivery, insertEvent } from './deliveries.store.ts';
import { findSubscribers } from './endpoints.store.ts';

/** The data of a type of event, as its message in the contract says. */
export type EventData<Type extends WebhookEventType> =
  webhooks[Type]['post']['requestBody']['content']['application/json']['data'];

/** A new event. Every endpoint gets these bytes as payload. */
export type NewEvent = { id: string; workspaceId: string; type: WebhookEventKind; payload: string };

type EventVideo = Pick<VideoRow, 'id' | 'workspace_id' | 'traceparent'>;

/** Records events, and deliveries to the endpoints that subscribe to them. */
export class WebhookEventsService {
  readonly #clock: Clock;
  readonly #firstDelaySeconds: number;

  constructor(clock: Clock, settings: { retryScheduleSeconds: readonly number[] }) {
    this.#clock = clock;
    this.#firstDelaySeconds = settings.retryScheduleSeconds[0] ?? 0;
  }

  /** Records an event and a delivery for each subscribed endpoint, in the transaction of the change. */
  async record<Type extends WebhookEventType>(
    trx: Database,
    type: Type,
    video: EventVideo,
    data: EventData<Type>,
  ): Promise<void> {
    const endpointIds = await findSubscribers(trx, video.workspace_id, type);
    await this.#insert(trx, type, video, data, endpointIds);
  }

  /**
   * As `record`, for a deletion, which erases the texts of the owner: the events of the video that no webhook gets are deleted, and this one has no
   * title if none gets it.
   */
  async recordDeletion(trx: Database, video: EventVideo, data: EventData<'video.deleted'>): Promise<void> {
    await deleteUnsentEvents(trx, video.id);
    const endpointIds = await findSubscribers(trx, video.workspace_id, 'video.deleted');
    const title = endpointIds.length > 0 ? data.title : '';
    await this.#insert(trx, 'video.deleted', video, { ...data, title }, endpointIds);
  }

  async #insert(
    trx: Database,
    type: WebhookEventType,
    { id: videoId, workspace_id: workspaceId, traceparent }: EventVideo,
    data: object,
    endpointIds: readonly string[],
  ): Promise<void> {
    const event = newEvent(type, workspaceId, data, this.#clock.now());
    // Without a current trace, such as at a timeout, the deliveries continue that of the video.
    await insertEvent(trx, { ...event, traceparent: activeTraceparent() ?? traceparent, videoId });
    for (const endpointId of endpointIds) {
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
