import { newId } from '@framelane/contracts/ids';
import type { components } from '@framelane/openapi/types';
import type { Database } from '../db/database.ts';
import type { WebhookEventKind } from '../db/schema.ts';
import { insertDelivery, insertEvent } from './deliveries.store.ts';
import { findSubscribers } from './endpoints.store.ts';

type Schemas = components['schemas'];

/** What each event tells. */
export type EventData = {
  'video.ready': Schemas['Video'];
  'video.failed': Schemas['Video'];
  'video.deleted': Schemas['DeletedVideo'];
};

/** An event about to be stored: its payload is what every receiver gets, byte for byte. */
export type NewEvent = { id: string; workspaceId: string; type: WebhookEventKind; payload: string };

/** Makes events of what happens, for the endpoints that want to know. */
export class WebhookEventsService {
  readonly #firstDelaySeconds: number;

  constructor(settings: { retryScheduleSeconds: readonly number[] }) {
    this.#firstDelaySeconds = settings.retryScheduleSeconds[0] ?? 0;
  }

  /**
   * Records what has just happened, in the transaction in which it happens, and has it sent to every endpoint that
   * wants it. Without such an endpoint there is nobody to tell, and nothing is kept.
   */
  async record<T extends keyof EventData>(
    trx: Database,
    type: T,
    workspaceId: string,
    data: EventData[T],
  ): Promise<void> {
    const endpointIds = await findSubscribers(trx, workspaceId, type);
    if (endpointIds.length === 0) return;
    const event = newEvent(type, workspaceId, data);
    await insertEvent(trx, event);
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

/** An event that happens now. */
export function newEvent(type: WebhookEventKind, workspaceId: string, data: object): NewEvent {
  const id = newId('evt');
  const timestamp = new Date().toISOString();
  return { id, workspaceId, type, payload: JSON.stringify({ id, type, timestamp, workspaceId, data }) };
}
