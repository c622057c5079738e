import { type AddressGuard, AddressRefusedError } from '@framelane/address-guard/address-guard';
import { newId } from '@framelane/contracts/ids';
import type { SealingKeys } from '@framelane/contracts/sealing';
import { invalidField, Problem } from '@framelane/service-kit/problem';
import { activeTraceparent } from '@framelane/service-kit/tracing';
import type { Commit, Database } from '../db/database.ts';
import type { Clock } from '../db/database-clock.ts';
import { type Page, type PageRequest, toPage } from '../db/keyset-page.ts';
import type { WebhookEndpointRow } from '../db/schema.ts';
import {
  deleteDeliveries,
  findDelivery,
  findDeliveryAttempts,
  findLastDeliveries,
  findPayload,
  giveUpDeliveries,
  insertDelivery,
  insertEvent,
  listDeliveries,
  startNewRound,
} from './deliveries.store.ts';
import { formatEndpointSecret, newEndpointSecret } from './endpoint-secret.ts';
import {
  changeEndpoint,
  countEndpoints,
  deleteEndpoint,
  disableEndpoint,
  type EndpointSettings,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  lockEndpoint,
  lockEndpointsOf,
  replaceSecret,
} from './endpoints.store.ts';
import { newEvent } from './events.service.ts';
import {
  type DeliveryDetails,
  type DeliveryRecord,
  toDeliveryDetails,
  toDeliveryRecord,
  toWebhookRecord,
  type WebhookRecord,
} from './webhook-record.ts';

/** Maximum number of webhooks of a workspace. */
const MAX_WEBHOOKS = 20;

/** How long a replaced secret also signs. */
const REPLACED_SECRET_HOURS = 24;

/** A webhook with its secret, which is shown only once. */
export type CreatedWebhook = WebhookRecord & { secret: string };

/** A webhook after a rotation, with the time until which the previous secret also signs. */
export type RotatedWebhook = CreatedWebhook & { previousSecretExpiresAt: string };

type Deps = {
  db: Database;
  clock: Clock;
  guard: AddressGuard;
  sealingKeys: SealingKeys;
  onDelivery: () => void;
};

/** Manages the endpoints of a workspace, which the API calls webhooks. */
export class WebhookEndpointsService {
  readonly #deps: Deps;

  /** `onDelivery` is called after each commit that makes a delivery due. */
  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Registers an endpoint. Throws 400 for a URL that events may not be sent to, and 409 `webhook_limit_reached`.
   */
  async create(workspaceId: string, webhook: EndpointSettings): Promise<Commit<CreatedWebhook>> {
    await this.#requireAllowed(webhook.url);
    const secret = newEndpointSecret();
    const sealed = await this.#deps.sealingKeys.seal(secret);
    return async (trx) => {
      await lockEndpointsOf(trx, workspaceId);
      if ((await countEndpoints(trx, workspaceId)) >= MAX_WEBHOOKS) throw limitReached();
      const row = await insertEndpoint(trx, {
        id: newId('whk'),
        workspaceId,
        ...webhook,
        secret: sealed,
      });
      return { ...toWebhookRecord(row, undefined), secret: formatEndpointSecret(secret) };
    };
  }

  /** One page of the workspace's endpoints. */
  async list(workspaceId: string, page: PageRequest): Promise<Page<WebhookRecord>> {
    const rows = await listEndpoints(this.#deps.db, workspaceId, page);
    const last = await findLastDeliveries(
      this.#deps.db,
      rows.map(({ id }) => id),
    );
    return toPage(rows, page.limit, (row) =>
      toWebhookRecord(
        row,
        last.find(({ endpoint_id }) => endpoint_id === row.id),
      ),
    );
  }

  /** One endpoint. Throws 404 `webhook_not_found`, also for one of another workspace. */
  async get(workspaceId: string, id: string): Promise<WebhookRecord> {
    return this.#record(this.#deps.db, requireFound(await findEndpoint(this.#deps.db, workspaceId, id), id));
  }

  /**
   * Changes what is given. A new URL, or enabling, resets the health of the endpoint. Disabling gives up its open
   * deliveries. Throws 404 `webhook_not_found`, and 400 like `create`.
   */
  async update(workspaceId: string, id: string, patch: Partial<EndpointSettings>): Promise<WebhookRecord> {
    requireFound(await findEndpoint(this.#deps.db, workspaceId, id), id);
    if (patch.url !== undefined) await this.#requireAllowed(patch.url);
    const changed = await this.#deps.db.transaction().execute(async (trx) => {
      const before = await lockOwn(trx, workspaceId, id);
      const { enabled = before.enabled, url = before.url } = patch;
      const reset = (enabled && !before.enabled) || url !== before.url;
      return changeEndpoint(trx, id, patch, { reset });
    });
    if (!changed.enabled) await giveUpDeliveries(this.#deps.db, id);
    return this.#record(this.#deps.db, changed);
  }

  /**
   * Deletes an endpoint with its deliveries. It is disabled first, so that no event is recorded for it meanwhile, and stays
   * disabled when the process stops before the end. Throws 404 `webhook_not_found`.
   */
  async delete(workspaceId: string, id: string): Promise<void> {
    await this.#deps.db.transaction().execute(async (trx) => {
      const { enabled } = await lockOwn(trx, workspaceId, id);
      if (enabled) await disableEndpoint(trx, id, 'manual');
    });
    await deleteDeliveries(this.#deps.db, id);
    await deleteEndpoint(this.#deps.db, id);
  }

  /**
   * Replaces the secret. The old secret also signs for a day. A secret that an earlier rotation replaced no longer signs. Throws 404
   * `webhook_not_found`.
   */
  async rotateSecret(workspaceId: string, id: string): Promise<Commit<RotatedWebhook>> {
    const secret = newEndpointSecret();
    const sealed = await this.#deps.sealingKeys.seal(secret);
    return async (trx) => {
      await lockOwn(trx, workspaceId, id);
      const row = await replaceSecret(trx, id, sealed, REPLACED_SECRET_HOURS);
      return {
        ...(await this.#record(trx, row)),
        secret: formatEndpointSecret(secret),
        previousSecretExpiresAt: row.previous_secret_expires_at.toISOString(),
      };
    };
  }

  /** One page of an endpoint's deliveries. Throws 404 `webhook_not_found`. */
  async deliveries(
    workspaceId: string,
    id: string,
    page: PageRequest & { status: DeliveryRecord['status'] | undefined },
  ): Promise<Page<DeliveryRecord>> {
    requireFound(await findEndpoint(this.#deps.db, workspaceId, id), id);
    const rows = await listDeliveries(this.#deps.db, id, page);
    const attempts = await findDeliveryAttempts(
      this.#deps.db,
      rows.map((row) => row.id),
    );
    return toPage(rows, page.limit, (row) =>
      toDeliveryRecord(
        row,
        attempts.filter(({ delivery_id }) => delivery_id === row.id),
      ),
    );
  }

  /** One delivery, with what it sent and received. Throws 404 `webhook_not_found` or `delivery_not_found`. */
  async delivery(workspaceId: string, id: string, deliveryId: string): Promise<DeliveryDetails> {
    requireFound(await findEndpoint(this.#deps.db, workspaceId, id), id);
    const delivery = await findDelivery(this.#deps.db, id, deliveryId);
    const body = delivery && (await findPayload(this.#deps.db, delivery.event_id));
    if (delivery === undefined || body === undefined) throw deliveryNotFound(deliveryId);
    return toDeliveryDetails(delivery, await findDeliveryAttempts(this.#deps.db, [deliveryId]), body);
  }

  /**
   * Delivers an event again: starts a new round of attempts under the same event id. Throws 404 `webhook_not_found` or
   * `delivery_not_found`, and 409 `webhook_disabled`.
   */
  async redeliver(workspaceId: string, id: string, deliveryId: string): Promise<Commit<DeliveryRecord>> {
    return async (trx) => {
      const endpoint = await lockOwn(trx, workspaceId, id);
      const delivery = await findDelivery(trx, id, deliveryId);
      if (delivery === undefined) throw deliveryNotFound(deliveryId);
      requireEnabled(endpoint);
      await startNewRound(trx, deliveryId);
      return this.#deliveryRecord(trx, id, deliveryId);
    };
  }

  /** Sends a test event to this endpoint, once. Throws 404 `webhook_not_found`, and 409 `webhook_disabled`. */
  async test(workspaceId: string, id: string): Promise<Commit<DeliveryRecord>> {
    return async (trx) => {
      requireEnabled(await lockOwn(trx, workspaceId, id));
      const event = newEvent('webhook.test', workspaceId, { webhookId: id }, this.#deps.clock.now());
      await insertEvent(trx, { ...event, traceparent: activeTraceparent() ?? null, videoId: null });
      const deliveryId = newId('dlv');
      await insertDelivery(trx, { id: deliveryId, eventId: event.id, endpointId: id, delaySeconds: 0 });
      return this.#deliveryRecord(trx, id, deliveryId);
    };
  }

  /** Begins a test or a redelivery at once, after its transaction was committed. */
  deliveryCommitted(): void {
    this.#deps.onDelivery();
  }

  async #requireAllowed(url: string): Promise<void> {
    try {
      await this.#deps.guard.check(url);
    } catch (error) {
      if (error instanceof AddressRefusedError) throw invalidField('body/url', 'endpoint', error.message);
      throw error;
    }
  }

  async #record(db: Database, row: WebhookEndpointRow): Promise<WebhookRecord> {
    const [last] = await findLastDeliveries(db, [row.id]);
    return toWebhookRecord(row, last);
  }

  async #deliveryRecord(db: Database, endpointId: string, deliveryId: string): Promise<DeliveryRecord> {
    const delivery = await findDelivery(db, endpointId, deliveryId);
    if (delivery === undefined) throw deliveryNotFound(deliveryId);
    return toDeliveryRecord(delivery, await findDeliveryAttempts(db, [deliveryId]));
  }
}

/** The endpoint of this workspace, locked until the transaction ends. */
async function lockOwn(trx: Database, workspaceId: string, id: string): Promise<WebhookEndpointRow> {
  const endpoint = await lockEndpoint(trx, id);
  return requireFound(endpoint?.workspace_id === workspaceId ? endpoint : undefined, id);
}

function requireFound(endpoint: WebhookEndpointRow | undefined, id: string): WebhookEndpointRow {
  if (endpoint === undefined) throw webhookNotFound(id);
  return endpoint;
}

function requireEnabled(endpoint: WebhookEndpointRow): void {
  if (endpoint.enabled) return;
  throw new Problem('webhook_disabled', 'This webhook is disabled. Enable it first.');
}

function webhookNotFound(id: string): Problem {
  return new Problem('webhook_not_found', `This workspace has no webhook ${id}.`);
}

function deliveryNotFound(id: string): Problem {
  return new Problem('delivery_not_found', `This webhook has no delivery ${id}.`);
}

function limitReached(): Problem {
  return new Problem(
    'webhook_limit_reached',
    `A workspace can have ${MAX_WEBHOOKS} webhooks. Delete one first.`,
  );
}
