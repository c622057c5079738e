import { openContentKey } from '@framelane/contracts/content-key';
import { newId } from '@framelane/contracts/ids';
import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import { SealingKeys } from '@framelane/contracts/sealing';
import { createLogger, type Logger } from '@framelane/service-kit/logger';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import request from 'supertest';
import { ResealingService } from '../src/sealed-values/resealing.service.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

const [before, after, unknown] = [1, 2, 3].map((fill) => Buffer.alloc(32, fill)) as [Buffer, Buffer, Buffer];
const PURPOSE = 'webhook secrets';
const WEBHOOK_SECRET = Buffer.from('a secret of a webhook');

let plane: TestControlPlane;
beforeAll(async () => {
  // The first step of a rotation: every control plane can open what the others seal later.
  plane = await startControlPlane((config) => ({
    ...config,
    secrets: { ...config.secrets, contentKey: before, previousContentKeys: [after] },
  }));
});
afterAll(() => plane.stop());

const secrets = (contentKey: Buffer, previousContentKeys: Buffer[] = []) => ({
  secrets: { service: 'tests-only-service-secret-of-32-chars', contentKey, previousContentKeys },
});

async function signedVideo(): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket({ filename: 'a.mp4', playbackPolicy: 'signed' });
  await plane.engine.upload(uploadToken);
  const { attempt } = await plane.engine.claim(videoId);
  await plane.engine.complete(videoId, attempt);
  return videoId;
}

const tokenOf = async (url: string, videoId: string): Promise<string> =>
  (await request(url).post(`/v1/videos/${videoId}/playback-tokens`).set(plane.credentials)).body.token;

/** Fetches the content key with a token; resolves with the key in hex, or the status of an error. */
async function play(url: string, videoId: string, token: string): Promise<string | number> {
  const path = `/v1/hls/${plane.workspaceId}/${videoId}/key?token=${token}`;
  const response = await request(url).get(path).responseType('blob');
  return response.status === 200 ? response.body.toString('hex') : response.status;
}

async function insertWebhook(secret: string, previousSecret: string): Promise<string> {
  const id = newId('whk');
  const endpoint = { id, workspace_id: plane.workspaceId, url: 'https://endpoint.test/', enabled: true };
  await plane.db
    .insertInto('webhook_endpoints')
    .values({
      ...endpoint,
      events: ['video.failed'],
      secret,
      previous_secret: previousSecret,
      previous_secret_expires_at: new Date(Date.now() + 60_000),
    })
    .execute();
  return id;
}

const webhook = (id: string) =>
  plane.db.selectFrom('webhook_endpoints').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

function resealing(contentKeys: SealingKeys): { service: ResealingService; events: Record<string, number> } {
  const events: Record<string, number> = {};
  const logger = createLogger({ service: 'test', level: 'silent' });
  const count = (event: string, { values }: { values: number }) => {
    events[event] = (events[event] ?? 0) + values;
  };
  logger.info = count as unknown as Logger['info'];
  logger.error = count as unknown as Logger['error'];
  const webhookKeys = contentKeys.derive(PURPOSE);
  const importKeys = contentKeys.derive('import requests');
  const service = new ResealingService({ db: plane.db, logger, contentKeys, webhookKeys, importKeys });
  return { service, events };
}

test('a rotation in steps: playback continues, all values are resealed, and the old secret can be removed', async () => {
  const old = new SealingKeys(before).derive(PURPOSE);
  const webhookId = await insertWebhook(await old.seal(WEBHOOK_SECRET), await old.seal(WEBHOOK_SECRET));
  const videoId = await signedVideo();
  const imported = { url: 'https://media.example.com/a.mp4?key=EXAMPLE', headers: { 'X-Key': 'EXAMPLE' } };
  await request(plane.url).post('/v1/videos/import').set(plane.credentials).send(imported).expect(202);
  const oldToken = await tokenOf(plane.url, videoId);
  const key = await play(plane.url, videoId, oldToken);
  expect(key).toMatch(/^[0-9a-f]{32}$/);

  // The second step, control plane by control plane: playback works at each of them.
  const second = await plane.startAnother(secrets(after, [before]));
  const newToken = await tokenOf(second.url, videoId);
  for (const url of [plane.url, second.url]) {
    for (const token of [oldToken, newToken]) expect(await play(url, videoId, token)).toBe(key);
  }
  await plane.stopFirst();

  // The hourly step: while both ran, the first control plane may have resealed values with the old secret.
  await second.maintain('reseal-secrets');
  const { service } = resealing(new SealingKeys(after, [before]));
  await until(async () => {
    const { contentKeys, webhookSecrets, importRequests } = await service.pending();
    return contentKeys + webhookSecrets + importRequests === 0;
  });
  expect(await play(second.url, videoId, oldToken)).toBe(key);
  await second.stop();

  const third = await plane.startAnother(secrets(after));
  expect(await play(third.url, videoId, newToken)).toBe(key);
  expect(await play(third.url, videoId, oldToken)).toBe(403);
  const { secret, previous_secret } = await webhook(webhookId);
  const now = new SealingKeys(after).derive(PURPOSE);
  expect(await now.open(secret)).toEqual(WEBHOOK_SECRET);
  expect(await now.open(String(previous_secret))).toEqual(WEBHOOK_SECRET);
  const claimed = await plane.engineAt(third.internalUrl).request(INTERNAL_PATHS.claimImport, {});
  expect(claimed.body).toMatchObject({ import: imported });
  await third.stop();
});

test('the next run finishes an interrupted one; a value that no secret opens stays unchanged, and is logged', async () => {
  const old = new SealingKeys(before);
  const ids = Array.from({ length: 250 }, () => newId('vid'));
  const lost = newId('vid');
  const video = { workspace_id: plane.workspaceId, environment: 'live', status: 'processing' } as const;
  const rows = [...ids, lost].map(async (id, index) => {
    const value = Buffer.alloc(16, index);
    const keys = id === lost ? new SealingKeys(unknown) : old;
    return { ...video, id, title: 'A', filename: 'a.mp4', content_key: await keys.seal(value) };
  });
  await plane.db
    .insertInto('videos')
    .values(await Promise.all(rows))
    .execute();

  const rotated = new SealingKeys(after, [before]);
  let sealed = 0;
  const failing = Object.assign(new SealingKeys(after, [before]), {
    seal: async (value: Uint8Array) => {
      sealed += 1;
      if (sealed > 120) throw new Error('The process ended');
      return rotated.seal(value);
    },
  });
  await expect(resealing(failing).service.reseal()).rejects.toThrow('ended');
  const { service, events } = resealing(rotated);
  expect((await service.pending()).contentKeys).toBe(131);
  await Promise.all([service.reseal(), resealing(rotated).service.reseal()]);
  expect((await service.pending()).contentKeys).toBe(1);
  expect(events['secrets.unreadable']).toBe(1);

  const onlyNew = new SealingKeys(after);
  const kept = await plane.db
    .selectFrom('videos')
    .select(['id', 'content_key'])
    .where('id', 'in', ids)
    .execute();
  const opened = kept.map(async ({ id, content_key }) => {
    const value = await openContentKey(String(content_key), onlyNew);
    expect(value).toEqual(Buffer.alloc(16, ids.indexOf(id)));
  });
  expect(await Promise.all(opened)).toHaveLength(250);
  await plane.db
    .deleteFrom('videos')
    .where('id', 'in', [...ids, lost])
    .execute();
});
