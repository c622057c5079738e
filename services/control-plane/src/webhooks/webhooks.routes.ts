import type { components, operations } from '@framelane/openapi/types';
import type { Request } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import { pageOf, sendPage } from '../http/pagination.ts';
import type { WithDefaults } from '../http/request-validation.ts';
import type { Idempotent } from '../idempotency/idempotent.ts';
import type { CreatedWebhook, RotatedWebhook, WebhookEndpointsService } from './endpoints.service.ts';
import type { DeliveryRecord } from './webhook-record.ts';

type Schemas = components['schemas'];

type DeliveryQuery = operations['listWebhookDeliveries']['parameters']['query'] & {};

export function webhookRoutes(
  webhooks: WebhookEndpointsService,
  addresses: { publicUrl: string; baseUrl: string },
  idempotent: Idempotent,
) {
  return {
    createWebhook: idempotent<CreatedWebhook>({
      prepare: async (req) => {
        const body: WithDefaults<Schemas['NewWebhook'], 'events' | 'enabled'> = req.body;
        const { url, events, description = null, enabled } = body;
        return webhooks.create(workspaceOf(req), { url, events, description, enabled });
      },
      response: (webhook) => ({
        status: 201,
        location: `${addresses.baseUrl}/webhooks/${webhook.id}`,
        body: webhook,
      }),
      oneTime: ['secret'],
    }),

    listWebhooks: async (req, res) => {
      sendPage(req, res, addresses.publicUrl, await webhooks.list(workspaceOf(req), pageOf(req)));
    },

    getWebhook: async (req, res) => {
      res.json(await webhooks.get(workspaceOf(req), String(req.params.id)));
    },

    updateWebhook: async (req, res) => {
      const { url, events, description, enabled }: Schemas['WebhookPatch'] = req.body;
      const patch = {
        ...(url !== undefined && { url }),
        ...(events !== undefined && { events }),
        ...(description !== undefined && { description }),
        ...(enabled !== undefined && { enabled }),
      };
      res.json(await webhooks.update(workspaceOf(req), String(req.params.id), patch));
    },

    deleteWebhook: async (req, res) => {
      await webhooks.delete(workspaceOf(req), String(req.params.id));
      res.status(204).end();
    },

    rotateWebhookSecret: idempotent<RotatedWebhook>({
      prepare: async (req) => webhooks.rotateSecret(workspaceOf(req), String(req.params.id)),
      response: (webhook) => ({ status: 200, body: webhook }),
      oneTime: ['secret'],
    }),

    testWebhook: idempotent<DeliveryRecord>({
      prepare: async (req) => webhooks.test(workspaceOf(req), String(req.params.id)),
      response: (delivery) => ({ status: 202, body: delivery }),
      committed: () => webhooks.deliveryCommitted(),
    }),

    listWebhookDeliveries: async (req, res) => {
      const page = { ...pageOf(req), status: (req.query as DeliveryQuery).status };
      sendPage(
        req,
        res,
        addresses.publicUrl,
        await webhooks.deliveries(workspaceOf(req), String(req.params.id), page),
      );
    },

    getWebhookDelivery: async (req, res) => {
      const { id, deliveryId } = req.params;
      res.json(await webhooks.delivery(workspaceOf(req), String(id), String(deliveryId)));
    },

    redeliverWebhookDelivery: idempotent<DeliveryRecord>({
      prepare: async (req) => {
        const { id, deliveryId } = req.params;
        return webhooks.redeliver(workspaceOf(req), String(id), String(deliveryId));
      },
      response: (delivery) => ({ status: 202, body: delivery }),
      committed: () => webhooks.deliveryCommitted(),
    }),
  } satisfies Handlers;
}

function workspaceOf(req: Request): string {
  return credentialOf(req).workspace_id;
}
