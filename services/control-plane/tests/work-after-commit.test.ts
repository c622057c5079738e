import { COMMAND_TYPES } from '@framelane/contracts/messages';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, beforeEach, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import type { DueWork } from '../src/background/due-loop.ts';
import { Commands } from '../src/tasks/commands.service.ts';
import { ObjectPurges } from '../src/videos/object-purges.service.ts';
import { WebhookDeliveriesService } from '../src/webhooks/deliveries.service.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { samplePlan } from './support/plan.ts';
import { TestEndpoint } from './support/test-endpoint.ts';
import { anyVideo, deleteVideo, localWebhooks, WebhookClient } from './support/webhooks.ts';

/** Longer than any test runs. */
const NEVER_SECONDS = 3600;

/** Purges and webhook deliveries. */
const OTHER_KINDS = 2;

/** The kinds of work whose latest claim has ended and found nothing due. */
const idle = new Set<string>();

let plane: TestControlPlane;
let webhooks: WebhookClient;
let endpoint: TestEndpoint;
beforeAll(async () => {
  observe(Commands.prototype);
  observe(ObjectPurges.prototype);
  observe(WebhookDeliveriesService.prototype);
  // The moves of maintenance also wake the loops.
  plane = await startControlPlane((config) => ({
    ...localWebhooks(config),
    pollSeconds: NEVER_SECONDS,
    maintenanceSeconds: NEVER_SECONDS,
  }));
  webhooks = new WebhookClient(plane);
  endpoint = await TestEndpoint.start();
  const dueSteps = sql`select from maintenance_steps where due_at <= now()`;
  await until(async () => (await dueSteps.execute(plane.db)).rows.length === 0);
});
beforeEach(untilIdle);
afterAll(async () => {
  await plane.stop();
  await endpoint.stop();
});

/** Notes when the latest claim of the loop of this work has found nothing due. */
function observe<T>(work: DueWork<T>): void {
  const { claim } = work;
  jest.spyOn(work, 'claim').mockImplementation(async function (this: DueWork<T>, limit) {
    idle.delete(this.name);
    const rows = await claim.call(this, limit);
    if (rows.length === 0) idle.add(this.name);
    return rows;
  });
}

/** Waits until no loop finds anything due. From then on, only a wake makes one claim. */
function untilIdle(): Promise<boolean> {
  return until(() => idle.size === COMMAND_TYPES.length + OTHER_KINDS);
}

test('a command to plan a video is published when its commit wakes the loop', async () => {
  const { uploadToken } = await plane.ticket();
  await plane.engine.upload(uploadToken);
  await until(async () => (await plane.bus.countWaiting('engine.commands')) === 1);
});

test('the commands of a plan are published when its commit wakes the loop', async () => {
  const { videoId, uploadToken } = await plane.ticket();
  await plane.engine.upload(uploadToken);
  await plane.engine.claim(videoId);
  await untilIdle();
  await plane.engine.storePlan(videoId, 1, samplePlan());
  await until(async () => (await plane.bus.countWaiting('engine.tasks')) === 2);
});

test('the objects of a video are purged when the commit of its deletion wakes the loop', async () => {
  const videoId = await anyVideo(plane);
  const key = `hls/${plane.workspaceId}/${videoId}/a1/360p/0.ts`;
  await plane.objects.put(key, Buffer.from('x'), 'video/mp2t');
  await deleteVideo(plane, videoId);
  await until(async () => (await plane.objects.head(key)) === null);
});

test('a webhook event, a test event and a redelivery are sent when their commits wake the loop', async () => {
  const { id } = await webhooks.create({ url: endpoint.url });
  await deleteVideo(plane, await anyVideo(plane));
  const first = await webhooks.settled(id);
  await untilIdle();
  await webhooks.test(id);
  await until(() => endpoint.ofType('webhook.test').length === 1);
  await untilIdle();
  await webhooks.call('post', `/${id}/deliveries/${first.id}/redeliver`);
  await until(() => endpoint.ofType('video.deleted').length === 2);
});

test('the command of a retried video is published when the commit of the retry wakes the loop', async () => {
  const { videoId, uploadToken } = await plane.ticket();
  const { sourceKey } = await plane.engine.upload(uploadToken);
  await plane.objects.put(sourceKey, Buffer.from('x'), 'video/mp4');
  const { attempt } = await plane.engine.claim(videoId);
  await plane.engine.fail(videoId, attempt, { code: 'not_a_video', message: 'No video.' });
  await untilIdle();
  const before = await plane.bus.countWaiting('engine.commands');
  await request(plane.url).post(`/v1/videos/${videoId}/retry`).set(plane.credentials).expect(202);
  await until(async () => (await plane.bus.countWaiting('engine.commands')) > before);
});
