import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import request from 'supertest';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import { createFullKey } from '../src/api-keys/api-keys.service.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

const HOUR = 3_600_000;

let plane: TestControlPlane;
let testCredentials: Record<string, string>;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({ ...config, maintenanceSeconds: 1, testVideoHours: 2 }));
  const secret = newApiKeySecret('test');
  await createFullKey(plane.db, { workspaceId: plane.workspaceId, name: 'Test', secret });
  testCredentials = { authorization: `Bearer ${secret}`, 'x-svc-workspace': plane.workspaceId };
});
afterAll(() => plane.stop());

const ticket = async (credentials: Record<string, string>, expiresIn?: number) => {
  const response = await request(plane.url)
    .post('/v1/videos/upload-ticket')
    .set(credentials)
    .send({ filename: 'a.mp4', expiresIn });
  return response.body as { videoId: string; uploadToken: string; expiresAt: string };
};
const get = (videoId: string) => request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials);

/** Makes the lifetime of a video end now. */
const outdate = (videoId: string) =>
  plane.db
    .updateTable('videos')
    .set({ remove_at: new Date(Date.now() - 1000) })
    .where('id', '=', videoId)
    .execute();

describe('a video created with a test key', () => {
  test('states when its ticket expires, then when it is deleted', async () => {
    const { videoId, uploadToken, expiresAt } = await ticket(testCredentials);
    const { body: uploading } = await get(videoId);
    expect(uploading).toMatchObject({ environment: 'test', expiresAt });
    await plane.engine.upload(uploadToken);
    const { body: processing } = await get(videoId);
    const lifetime = Date.parse(processing.expiresAt) - Date.parse(processing.createdAt);
    expect(Math.abs(lifetime - 2 * HOUR)).toBeLessThan(10_000);
  });

  test('has a ticket that expires with it at the latest', async () => {
    const { expiresAt } = await ticket(testCredentials, 604_800);
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(2 * HOUR);
  });

  test.each(['uploading', 'processing', 'ready'])('is deleted after its lifetime: %s', async (status) => {
    const { videoId, uploadToken } = await ticket(testCredentials);
    if (status !== 'uploading') await plane.engine.upload(uploadToken);
    if (status === 'ready') {
      await plane.engine.claim(videoId);
      await plane.engine.complete(videoId, 1);
    }
    const source = `sources/${plane.workspaceId}/${videoId}/xfr_1/original`;
    await plane.objects.put(source, Buffer.from('x'), 'video/mp4');
    await outdate(videoId);
    await until(async () => (await get(videoId)).status === 404);
    const row = await plane.db
      .selectFrom('videos')
      .select(['deleted_at', 'content_key'])
      .where('id', '=', videoId)
      .executeTakeFirstOrThrow();
    expect(row).toEqual({ deleted_at: expect.any(Date), content_key: null });
    await until(async () => (await plane.objects.head(source)) === null);
  });
});

test('a video created with a live key is not deleted', async () => {
  const { videoId, uploadToken } = await ticket(plane.credentials);
  await plane.engine.upload(uploadToken);
  expect((await get(videoId)).body).toMatchObject({ environment: 'live', expiresAt: null });
  const { videoId: outdated } = await ticket(testCredentials);
  await outdate(outdated);
  await until(async () => (await get(outdated)).status === 404);
  expect((await get(videoId)).status).toBe(200);
});
