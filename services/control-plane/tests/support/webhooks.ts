import { readRanges } from '@framelane/address-guard/address-ranges';
import { newId } from '@framelane/contracts/ids';
import type { components } from '@framelane/openapi/types';
import { until } from '@framelane/test-kit/until';
import request from 'supertest';
import type { ControlPlaneConfig } from '../../src/config.ts';
import type { TestControlPlane } from './control-plane.ts';

export type Webhook = components['schemas']['Webhook'];
export type Delivery = components['schemas']['WebhookDelivery'];

/** Allows endpoints on loopback, and retries without pauses. */
export function localWebhooks(config: ControlPlaneConfig): ControlPlaneConfig {
  const allowedRanges = readRanges('127.0.0.0/8') ?? [];
  return {
    ...config,
    webhooks: { ...config.webhooks, allowedRanges, retryScheduleSeconds: [0, 0, 0], timeoutSeconds: 10 },
  };
}

/** The webhook operations, for one workspace. */
export class WebhookClient {
  readonly #plane: TestControlPlane;
  readonly #credentials: Record<string, string>;

  constructor(plane: TestControlPlane, credentials = plane.credentials) {
    this.#plane = plane;
    this.#credentials = credentials;
  }

  call(method: 'get' | 'post' | 'patch' | 'delete', path: string) {
    return request(this.#plane.url)[method](`/v1/webhooks${path}`).set(this.#credentials);
  }

  async create(body: Record<string, unknown>): Promise<Webhook & { secret: string }> {
    const response = await this.call('post', '').send(body);
    if (response.status !== 201) throw new Error(`Webhook not created: ${response.text}`);
    return response.body;
  }

  async get(id: string): Promise<Webhook> {
    return (await this.call('get', `/${id}`)).body;
  }

  async deliveries(id: string): Promise<Delivery[]> {
    return (await this.call('get', `/${id}/deliveries?limit=100`)).body.data;
  }

  /** Sends a test event; resolves with the id of its delivery. */
  async test(id: string): Promise<string> {
    const response = await this.call('post', `/${id}/test`);
    if (response.status !== 202) throw new Error(`Test event not sent: ${response.text}`);
    return response.body.id;
  }

  /** The newest delivery of this webhook; waits until it is not open. */
  async settled(id: string): Promise<Delivery> {
    return until(async () => {
      const [delivery] = await this.deliveries(id);
      return delivery?.nextAttemptAt === null && delivery;
    });
  }
}

/** Deletes a video over the API. */
export async function deleteVideo(plane: TestControlPlane, videoId: string): Promise<void> {
  const response = await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials);
  if (response.status !== 204) throw new Error(`Video not deleted: ${response.text}`);
}

/** A video that waits for its upload. Its deletion is the simplest event to cause. */
export async function anyVideo(plane: TestControlPlane): Promise<string> {
  return (await plane.ticket()).videoId;
}

/** Creates another workspace with a webhook; resolves with the id of the webhook. */
export async function foreignWebhook(plane: TestControlPlane): Promise<string> {
  const workspaceId = newId('ws');
  await plane.db.insertInto('workspaces').values({ id: workspaceId, name: 'Other' }).execute();
  const id = newId('whk');
  await plane.db
    .insertInto('webhook_endpoints')
    .values({
      id,
      workspace_id: workspaceId,
      url: 'https://example.com/',
      events: ['video.ready'],
      enabled: true,
      secret: 'sealed',
    })
    .execute();
  return id;
}
