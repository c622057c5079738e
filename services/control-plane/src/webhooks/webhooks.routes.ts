import type { components } from '@framelane/openapi/types';
import type { Request, RequestHandler, Response } from 'express';
import { apiKeyOf } from '../auth/authentication.ts';
import { nextLink, type Page, type Position, readCursor } from '../http/pagination.ts';
import type { WebhooksService } from './webhooks.service.ts';

type Schemas = components['schemas'];

type WebhookOperation =
  | 'createWebhook'
  | 'listWebhooks'
  | 'getWebhook'
  | 'updateWebhook'
  | 'deleteWebhook'
  | 'rotateWebhookSecret'
  | 'testWebhook'
  | 'listWebhookDeliveries'
  | 'redeliverWebhookDelivery';

export function webhookRoutes(
  webhooks: WebhooksService,
  addresses: { publicUrl: string; baseUrl: string },
): Record<WebhookOperation, RequestHandler> {
  const sendPage = (req: Request, res: Response, page: Page<unknown>) => {
    if (page.nextCursor !== null) {
      res.set('Link', nextLink(addresses.publicUrl, req.originalUrl, page.nextCursor));
    }
    res.json(page);
  };

  return {
    createWebhook: async (req, res) => {
      const body: Schemas['NewWebhook'] = req.body;
      const { webhook, secret } = await webhooks.create(workspaceOf(req), {
        url: body.url,
        events: body.events,
        description: body.description ?? null,
        enabled: body.enabled,
      });
      const answer: Schemas['WebhookWithSecret'] = { ...webhook, secret };
      res.status(201).location(`${addresses.baseUrl}/webhooks/${webhook.id}`).json(answer);
    },

    listWebhooks: async (req, res) => {
      sendPage(req, res, await webhooks.list(workspaceOf(req), pageOf(req)));
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

    rotateWebhookSecret: async (req, res) => {
      const rotated = await webhooks.rotateSecret(workspaceOf(req), String(req.params.id));
      const answer: Schemas['RotatedWebhook'] = {
        ...rotated.webhook,
        secret: rotated.secret,
        previousSecretExpiresAt: rotated.previousSecretExpiresAt,
      };
      res.json(answer);
    },

    testWebhook: async (req, res) => {
      res.status(202).json(await webhooks.test(workspaceOf(req), String(req.params.id)));
    },

    listWebhookDeliveries: async (req, res) => {
      sendPage(req, res, await webhooks.deliveries(workspaceOf(req), String(req.params.id), pageOf(req)));
    },

    redeliverWebhookDelivery: async (req, res) => {
      const { id, deliveryId } = req.params;
      res.status(202).json(await webhooks.redeliver(workspaceOf(req), String(id), String(deliveryId)));
    },
  };
}

function workspaceOf(req: Request): string {
  return apiKeyOf(req).workspace_id;
}

/** Which page is asked for; the contract has checked it and filled in the default. */
function pageOf(req: Request): { after: Position | undefined; limit: number } {
  const { limit, cursor } = req.query as unknown as { limit: number; cursor?: string };
  return { limit, after: cursor === undefined ? undefined : readCursor(cursor) };
}
