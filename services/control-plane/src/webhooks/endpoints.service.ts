import { newId } from '@framelane/contracts/ids';
import type { SealingKeys } from '@framelane/contracts/sealing';
import { Problem } from '@framelane/service-kit/problem';
import { sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { inSeconds } from '../db/due-rows.ts';
import type { NoteOutcome } from '../db/note-outcome.ts';
import type { WebhookEndpointRow, WebhookEventType } from '../db/schema.ts';
import { type Page, type Position, toPage } from '../http/pagination.ts';
import { invalidField } from '../http/problems.ts';
import {
  deleteDeliveries,
  findAttempts,
  findDelivery,
  findLastDeliveries,
  giveUpDeliveries,
  insertDelivery,
  insertEvent,
  listDeliveries,
  renewDelivery,
} from './deliveries.store.ts';
import { type EndpointGuard, EndpointRefusedError } from './endpoint-guard.ts';
import { newWebhookSecret, showWebhookSecret } from './endpoint-secret.ts';
import {
  countEndpoints,
  deleteEndpoint,
  disableEndpoint,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  lockEndpoint,
  lockWebhooksOf,
  updateEndpoint,
} from './endpoints.store.ts';
import { newEvent } from './events.service.ts';
import {
  type DeliveryRecord,
  toDeliveryRecord,
  toWebhookRecord,
  type WebhookRecord,
} from './webhook-record.ts';

/** Webhooks a workspace can have. */
const MAX_WEBHOOKS = 20;

/** How long a replaced secret goes on signing. */
const REPLACED_SECRET_HOURS = 24;

/** What an owner chooses. */
export type NewWebhook = {
  url: string;
  events: WebhookEventType[];
  description: string | null;
  enabled: boolean;
};

/** A webhook with its secret, which is known only now. */
export type CreatedWebhook = WebhookRecord & { secret: string };

/** The same after a rotation, with the time until which the secret before signs as well. */
export type RotatedWebhook = CreatedWebhook & { previousSecretExpiresAt: string };

/** The webhooks of a workspace, as their owner manages them. */
export class WebhookEndpointsService {
  readonly #db: Database;
  readonly #guard: EndpointGuard;
  readonly #sealingKeys: SealingKeys;

  constructor(deps: { db: Database; guard: EndpointGuard; sealingKeys: SealingKeys }) {
    this.#db = deps.db;
    this.#guard = deps.guard;
    this.#sealingKeys = deps.sealingKeys;
  }

  /**
   * Registers a webhook. The secret is known only now. Throws 400 for an address that events are not sent to and 409
   * `webhook_limit_reached`.
   */
  async create(
    workspaceId: string,
    webhook: NewWebhook,
    noteOutcome: NoteOutcome<CreatedWebhook>,
  ): Promise<CreatedWebhook> {
    await this.#requireReceiver(webhook.url);
    const secret = newWebhookSecret();
    const sealed = await this.#sealingKeys.seal(secret);
    return this.#db.transaction().execute(async (trx) => {
      await lockWebhooksOf(trx, workspaceId);
      if ((await countEndpoints(trx, workspaceId)) >= MAX_WEBHOOKS) throw limitReached();
      const row = await insertEndpoint(trx, {
        id: newId('whk'),
        workspace_id: workspaceId,
        ...webhook,
        disabled_reason: webhook.enabled ? null : 'manual',
        secret: sealed,
      });
      const created = { ...toWebhookRecord(row, undefined), secret: showWebhookSecret(secret) };
      await noteOutcome(trx, created);
      return created;
    });
  }

  /** One page of the workspace's webhooks. */
  async list(
    workspaceId: string,
    page: { after: Position | undefined; limit: number },
  ): Promise<Page<WebhookRecord>> {
    const rows = await listEndpoints(this.#db, workspaceId, { ...page, limit: page.limit + 1 });
    const last = await findLastDeliveries(
      this.#db,
      rows.map(({ id }) => id),
    );
    return toPage(rows, page.limit, (row) =>
      toWebhookRecord(
        row,
        last.find(({ endpoint_id }) => endpoint_id === row.id),
      ),
    );
  }

  /** One webhook. Throws 404 `webhook_not_found`, also for another workspace's. */
  async get(workspaceId: string, id: string): Promise<WebhookRecord> {
    return this.#record(this.#db, requireFound(await findEndpoint(this.#db, workspaceId, id), id));
  }

  /**
   * Changes what is given. A webhook that gets another address, or is enabled again, starts with a clean record; one that
   * is disabled gives up what it has not received. Throws 404 `webhook_not_found` and 400 like `create`.
   */
  async update(workspaceId: string, id: string, patch: Partial<NewWebhook>): Promise<WebhookRecord> {
    requireFound(await findEndpoint(this.#db, workspaceId, id), id);
    if (patch.url !== undefined) await this.#requireReceiver(patch.url);
    const changed = await this.#db.transaction().execute(async (trx) => {
      const before = await lockOwn(trx, workspaceId, id);
      const { enabled = before.enabled, ...values } = patch;
      const afresh = (enabled && !before.enabled) || (patch.url ?? before.url) !== before.url;
      const row = await updateEndpoint(trx, id, {
        ...values,
        ...(enabled && { enabled, disabled_reason: null }),
        ...(afresh && { consecutive_failures: 0, failing_since: null, last_attempt_at: null }),
        updated_at: sql`now()`,
      });
      return before.enabled && !enabled ? disableEndpoint(trx, id, 'manual') : row;
    });
    if (!changed.enabled) await giveUpDeliveries(this.#db, id);
    return this.#record(this.#db, changed);
  }

  /**
   * Deletes a webhook with its deliveries. It is disabled first and deleted last, so that no event waits for it meanwhile;
   * one whose deletion breaks off stays disabled. Throws 404 `webhook_not_found`.
   */
  async delete(workspaceId: string, id: string): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      const { enabled } = await lockOwn(trx, workspaceId, id);
      if (enabled) await disableEndpoint(trx, id, 'manual');
    });
    await deleteDeliveries(this.#db, id);
    await deleteEndpoint(this.#db, id);
  }

  /**
   * Replaces the secret; the old one signs beside the new one for a day, and the one before that no more. Throws 404
   * `webhook_not_found`.
   */
  async rotateSecret(
    workspaceId: string,
    id: string,
    noteOutcome: NoteOutcome<RotatedWebhook>,
  ): Promise<RotatedWebhook> {
    const secret = newWebhookSecret();
    const sealed = await this.#sealingKeys.seal(secret);
    return this.#db.transaction().execute(async (trx) => {
      const before = await lockOwn(trx, workspaceId, id);
      const row = await updateEndpoint(trx, id, {
        secret: sealed,
        previous_secret: before.secret,
        previous_secret_expires_at: inSeconds(REPLACED_SECRET_HOURS * 3600),
        updated_at: sql`now()`,
      });
      const rotated = {
        ...(await this.#record(trx, row)),
        secret: showWebhookSecret(secret),
        previousSecretExpiresAt: (row.previous_secret_expires_at as Date).toISOString(),
      };
      await noteOutcome(trx, rotated);
      return rotated;
    });
  }

  /** One page of a webhook's deliveries. Throws 404 `webhook_not_found`. */
  async deliveries(
    workspaceId: string,
    id: string,
    page: { after: Position | undefined; limit: number },
  ): Promise<Page<DeliveryRecord>> {
    requireFound(await findEndpoint(this.#db, workspaceId, id), id);
    const rows = await listDeliveries(this.#db, id, { ...page, limit: page.limit + 1 });
    const attempts = await findAttempts(
      this.#db,
      rows.map((row) => row.id),
    );
    return toPage(rows, page.limit, (row) =>
      toDeliveryRecord(
        row,
        attempts.filter(({ delivery_id }) => delivery_id === row.id),
      ),
    );
  }

  /**
   * Has an event delivered again, now, with a whole round of attempts; the message keeps its id. Throws 404
   * `webhook_not_found` or `delivery_not_found`, and 409 `webhook_disabled`.
   */
  async redeliver(
    workspaceId: string,
    id: string,
    deliveryId: string,
    noteOutcome: NoteOutcome<DeliveryRecord>,
  ): Promise<DeliveryRecord> {
    return this.#db.transaction().execute(async (trx) => {
      const endpoint = await lockOwn(trx, workspaceId, id);
      const delivery = await findDelivery(trx, id, deliveryId);
      if (delivery === undefined) throw deliveryNotFound(deliveryId);
      requireEnabled(endpoint);
      await renewDelivery(trx, deliveryId);
      const record = await this.#deliveryRecord(trx, id, deliveryId);
      await noteOutcome(trx, record);
      return record;
    });
  }

  /** Sends an event made up for this webhook, once. Throws 404 `webhook_not_found` and 409 `webhook_disabled`. */
  async test(
    workspaceId: string,
    id: string,
    noteOutcome: NoteOutcome<DeliveryRecord>,
  ): Promise<DeliveryRecord> {
    return this.#db.transaction().execute(async (trx) => {
      requireEnabled(await lockOwn(trx, workspaceId, id));
      const event = newEvent('webhook.test', workspaceId, { webhookId: id });
      await insertEvent(trx, event);
      const deliveryId = newId('dlv');
      await insertDelivery(trx, { id: deliveryId, eventId: event.id, endpointId: id, delaySeconds: 0 });
      const record = await this.#deliveryRecord(trx, id, deliveryId);
      await noteOutcome(trx, record);
      return record;
    });
  }

  async #requireReceiver(url: string): Promise<void> {
    try {
      await this.#guard.check(url);
    } catch (error) {
      if (error instanceof EndpointRefusedError) throw invalidField('body/url', 'receiver', error.message);
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
    return toDeliveryRecord(delivery, await findAttempts(db, [deliveryId]));
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
  return new Problem('webhook_not_found', `There is no webhook ${id} in this workspace.`);
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
