import { openContentKey } from '@framelane/contracts/content-key';
import { ENGINE_STOPPED, type TranscodeFailureCode } from '@framelane/contracts/failures';
import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import type { Message } from '@framelane/contracts/messages';
import { SealingKeys } from '@framelane/contracts/sealing';
import { PLAN_VERSION } from '@framelane/contracts/transcode-plan';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { firstTry } from './support/engine.ts';
import { planOf, resultOfWhole, sampleManifest } from './support/manifest.ts';

const contentKeySecret = Buffer.alloc(32, 7);
/**
 * Longer than any step of these tests, but short: after its start, a control plane ends no expired attempt before one lease has passed
 * (lease grace).
 */
const LEASE_SECONDS = 3;
const commands: Message[] = [];

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane((config) => ({
    ...config,
    maintenanceSeconds: 1,
    attempts: { ...config.attempts, leaseSeconds: LEASE_SECONDS },
    secrets: { ...config.secrets, contentKey: contentKeySecret },
  }));
  await plane.bus.consume(
    'engine.commands',
    { prefetch: 10 },
    async (message) => void commands.push(message),
  );
});
afterAll(() => plane.stop());
// Commands of earlier tests would fill the queue of the workspace.
beforeEach(() => plane.db.deleteFrom('attempts').execute());

async function processingVideo(): Promise<string> {
  const { videoId, uploadToken } = await plane.ticket();
  await plane.engine.upload(uploadToken);
  return videoId;
}

async function video(videoId: string) {
  return (await request(plane.url).get(`/v1/videos/${videoId}`).set(plane.credentials)).body;
}

/** Resolves once the engines have received `count` commands for the video. */
function commandsFor(videoId: string, count: number): Promise<Message[]> {
  return until(async () => {
    const found = commands.filter(({ type, data }) => type === 'plan' && data.videoId === videoId);
    return found.length >= count && found;
  });
}

const tryClaim = (videoId: string, claimId?: string) =>
  plane.engine.request(INTERNAL_PATHS.claimTask, {
    videoId,
    command: 'plan',
    planVersion: PLAN_VERSION,
    claimId,
  });

const fail = (
  videoId: string,
  attempt: number,
  code: TranscodeFailureCode | typeof ENGINE_STOPPED,
  retryable: boolean,
) => plane.engine.fail(videoId, attempt, { code, retryable });

const isCurrent = async (videoId: string, attempt: number) =>
  (await plane.engine.request(INTERNAL_PATHS.checkTask, firstTry(videoId, attempt))).body.current;

/** When the lease of the first task expires, in milliseconds. */
async function leaseEnd(videoId: string): Promise<number> {
  const task = plane.db.selectFrom('tasks').select('lease_expires_at').where('video_id', '=', videoId);
  return (await task.executeTakeFirstOrThrow()).lease_expires_at?.getTime() ?? 0;
}

const setLease = (videoId: string, milliseconds: number) =>
  plane.db
    .updateTable('tasks')
    .set({ lease_expires_at: new Date(Date.now() + milliseconds) })
    .where('video_id', '=', videoId)
    .execute();
const expireLease = (videoId: string) => setLease(videoId, -1000);

describe('claiming', () => {
  test('a completed upload leads to one command, and its video can be claimed once', async () => {
    const videoId = await processingVideo();
    const [command] = await commandsFor(videoId, 1);
    expect(command?.data).toEqual({
      videoId,
      workspaceId: plane.workspaceId,
      inputBytes: expect.any(Number),
      waitingSince: expect.any(String),
    });
    const responses = await Promise.all([1, 2, 3, 4].map(() => tryClaim(videoId)));
    const granted = responses.filter(({ status }) => status === 200);
    expect(granted).toHaveLength(1);
    expect(granted[0]?.body).toEqual({
      attempt: 1,
      task: 0,
      try: 1,
      contentKey: expect.any(String),
      leaseSeconds: LEASE_SECONDS,
      sourceKey: expect.stringContaining(videoId),
      inputBytes: 1_000_000,
      work: {
        kind: 'plan',
        hashSource: false,
        pieceSeconds: expect.any(Number),
        audioOnly: 'refused',
        packaging: 'ts',
        codecs: [],
        hdr: 'sdr',
      },
    });
    const refused = responses.filter(({ status }) => status === 409);
    expect(refused.map(({ body }) => body.code)).toEqual(Array(3).fill('task_not_claimable'));
    const key = Buffer.from(String(granted[0]?.body.contentKey), 'base64');
    expect(key).toHaveLength(16);
    const { content_key } = await plane.db
      .selectFrom('videos')
      .select('content_key')
      .where('id', '=', videoId)
      .executeTakeFirstOrThrow();
    expect(await openContentKey(String(content_key), new SealingKeys(contentKeySecret))).toEqual(key);
    expect(await commandsFor(videoId, 1)).toHaveLength(1);
  });

  test('every attempt has its own content key', async () => {
    const videoId = await processingVideo();
    const first = await plane.engine.claim(videoId);
    await fail(videoId, 1, 'storage_failed', true);
    const second = await plane.engine.claim(videoId);
    expect(second.attempt).toBe(2);
    expect(second.contentKey).not.toBe(first.contentKey);
  });

  test('the engine computes the hash of a source without one', async () => {
    const videoId = await processingVideo();
    await plane.db.updateTable('videos').set({ sha256: null }).where('id', '=', videoId).execute();
    expect((await plane.engine.claim(videoId)).work.hashSource).toBe(true);
  });

  test.each(['uploading', 'ready', 'failed', 'deleted', 'unknown'])('409 while %s', async (status) => {
    const { videoId, uploadToken } = await plane.ticket();
    if (status !== 'uploading') await plane.engine.upload(uploadToken);
    if (status === 'ready' || status === 'failed') await plane.engine.claim(videoId);
    if (status === 'ready') await plane.engine.complete(videoId, 1);
    if (status === 'failed') await fail(videoId, 1, 'not_a_video', false);
    if (status === 'deleted') await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials);
    const response = await tryClaim(status === 'unknown' ? 'vid_unknown' : videoId);
    expect([response.status, response.body.code]).toEqual([409, 'task_not_claimable']);
  });
});

test('a claim opens no sealed key, because an attempt whose key does not open would be lost', async () => {
  const videoId = await processingVideo();
  const opening = jest.spyOn(SealingKeys.prototype, 'open');
  try {
    expect((await tryClaim(videoId)).status).toBe(200);
    expect(opening).not.toHaveBeenCalled();
  } finally {
    opening.mockRestore();
  }
});

describe('a claim with an id', () => {
  test('whose response was lost gets the same attempt when it is repeated, with a new lease', async () => {
    const videoId = await processingVideo();
    const [first, repeated] = await Promise.all([tryClaim(videoId, 'c1'), tryClaim(videoId, 'c1')]);
    expect(first).toMatchObject({ status: 200, body: { attempt: 1 } });
    expect(repeated).toEqual(first);
    await setLease(videoId, 1);
    expect(await tryClaim(videoId, 'c1')).toEqual(first);
    expect(await leaseEnd(videoId)).toBeGreaterThan(Date.now() + 1000);
    expect((await tryClaim(videoId, 'c2')).status).toBe(409);
    expect((await tryClaim(videoId)).status).toBe(409);
    await plane.engine.complete(videoId, 1);
    expect((await video(videoId)).status).toBe('ready');
  });

  test('that is late changes nothing: its engine works, or its attempt has ended', async () => {
    const videoId = await processingVideo();
    await tryClaim(videoId, 'c3');
    await plane.engine.progress(videoId, 1, 0);
    expect((await tryClaim(videoId, 'c3')).status).toBe(409);
    await fail(videoId, 1, ENGINE_STOPPED, true);
    // The next attempt waits. Nobody waits for the response to this claim.
    expect((await tryClaim(videoId, 'c3')).status).toBe(409);
    expect(await tryClaim(videoId, 'c4')).toMatchObject({ status: 200, body: { attempt: 2 } });
  });
});

describe('a plan without tasks', () => {
  const store = (videoId: string, attempt: number, plan = planOf(sampleManifest())) =>
    plane.engine.storePlan(videoId, attempt, plan);

  /** A video whose first attempt has a plan. */
  async function plannedVideo(): Promise<string> {
    const videoId = await processingVideo();
    await plane.engine.claim(videoId);
    expect(await store(videoId, 1)).toBe(204);
    return videoId;
  }

  test('lets its try go on with a new lease, and nobody else can claim the video', async () => {
    const videoId = await processingVideo();
    await tryClaim(videoId, 'c5');
    await setLease(videoId, 1);
    expect(await store(videoId, 1)).toBe(204);
    expect(await leaseEnd(videoId)).toBeGreaterThan(Date.now() + 1000);
    expect(await isCurrent(videoId, 1)).toBe(true);
    for (const command of ['plan', 'task']) {
      const request = { videoId, command, planVersion: PLAN_VERSION };
      expect((await plane.engine.request(INTERNAL_PATHS.claimTask, request)).status).toBe(409);
    }
    // Its engine works, so nobody waits for the response to its claim.
    expect((await tryClaim(videoId, 'c5')).status).toBe(409);
  });

  test('of a try that has ended is refused', async () => {
    const videoId = await plannedVideo();
    await fail(videoId, 1, 'storage_failed', true);
    const { status, body } = await plane.engine.request(INTERNAL_PATHS.storePlan, {
      ...firstTry(videoId, 1),
      plan: planOf(sampleManifest()),
    });
    expect([status, body.code]).toEqual([409, 'plan_not_current']);
    await plane.engine.claim(videoId);
    expect(await store(videoId, 1)).toBe(409);
    const attempts = plane.db.selectFrom('attempts').select('number').where('video_id', '=', videoId);
    expect(await attempts.where('plan', 'is not', null).execute()).toEqual([]);
    await plane.engine.complete(videoId, 2);
    expect(await store(videoId, 2)).toBe(409);
    await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
    expect(await store(videoId, 2)).toBe(409);
  });

  test('is stored again if its response was lost, and replaced by another plan of the same try', async () => {
    const videoId = await plannedVideo();
    expect(await store(videoId, 1)).toBe(204);
    const { renditions, ...manifest } = sampleManifest();
    const next = { ...manifest, renditions: renditions.slice(1) };
    expect(await store(videoId, 1, { ...planOf(next), revision: 1 })).toBe(204);
    await plane.engine.report('task.completed', { ...firstTry(videoId, 1), result: resultOfWhole(next) });
    expect(await video(videoId)).toMatchObject({ status: 'ready', variants: ['480p'] });
  });

  test('shows progress, which never falls', async () => {
    const videoId = await processingVideo();
    await plane.engine.claim(videoId);
    await plane.engine.progress(videoId, 1, 0.9);
    // Before the plan is stored, nothing of the video is transcoded.
    expect((await video(videoId)).progress).toBe(0);
    await fail(videoId, 1, ENGINE_STOPPED, true);
    await plane.engine.claim(videoId);
    await store(videoId, 2);
    for (const fraction of [0.5, 0.25, 1]) {
      await plane.engine.progress(videoId, 2, fraction);
      expect((await video(videoId)).progress).toBe(fraction === 1 ? 99 : 49);
    }
  });

  test('whose result is inconsistent fails the video, because another attempt would have the same result', async () => {
    const videoId = await plannedVideo();
    const { renditions = [], images } = resultOfWhole(sampleManifest());
    const result = { renditions: renditions.slice(1), images };
    await plane.engine.report('task.completed', { ...firstTry(videoId, 1), result });
    expect(await video(videoId)).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
    expect((await tryClaim(videoId)).status).toBe(409);
  });

  test('can come with the hash of the source, which becomes that of the video', async () => {
    const videoId = await processingVideo();
    await plane.db.updateTable('videos').set({ sha256: null }).where('id', '=', videoId).execute();
    await plane.engine.claim(videoId);
    const [plan, sourceSha256] = [planOf(sampleManifest()), 'cd'.repeat(32)];
    const request = { ...firstTry(videoId, 1), plan, sourceSha256 };
    expect((await plane.engine.request(INTERNAL_PATHS.storePlan, request)).status).toBe(204);
    const result = resultOfWhole(sampleManifest());
    await plane.engine.report('task.completed', { ...firstTry(videoId, 1), result });
    expect((await video(videoId)).source.sha256).toBe(sourceSha256);
  });
});

describe('results', () => {
  test('a completion is applied once; later results change nothing', async () => {
    const videoId = await processingVideo();
    await plane.engine.claim(videoId);
    await plane.engine.complete(videoId, 1);
    const ready = await video(videoId);
    expect(ready.status).toBe('ready');
    await plane.engine.complete(videoId, 1);
    await fail(videoId, 1, 'transcode_failed', false);
    await plane.engine.progress(videoId, 1, 0.1);
    expect(await video(videoId)).toEqual(ready);
  });

  test('a permanent failure fails the video with its code and erases the content key', async () => {
    const videoId = await processingVideo();
    await plane.engine.claim(videoId);
    await fail(videoId, 1, 'no_video_track', false);
    expect(await video(videoId)).toMatchObject({
      status: 'failed',
      error: { code: 'no_video_track', message: 'What went wrong.' },
    });
    const row = await plane.db.selectFrom('videos').select('content_key').where('id', '=', videoId).execute();
    expect(row).toEqual([{ content_key: null }]);
  });

  test('the video fails after three attempts with transient failures', async () => {
    const videoId = await processingVideo();
    for (const attempt of [1, 2, 3]) {
      await commandsFor(videoId, attempt);
      expect((await plane.engine.claim(videoId)).attempt).toBe(attempt);
      expect((await video(videoId)).status).toBe('processing');
      await fail(videoId, attempt, 'storage_failed', true);
    }
    expect(await video(videoId)).toMatchObject({ status: 'failed', error: { code: 'storage_failed' } });
    expect((await commandsFor(videoId, 3)).length).toBe(3);
  });

  test('an attempt that was handed back does not count', async () => {
    const videoId = await processingVideo();
    for (const attempt of [1, 2, 3, 4]) {
      await commandsFor(videoId, attempt);
      expect((await plane.engine.claim(videoId)).attempt).toBe(attempt);
      await fail(videoId, attempt, ENGINE_STOPPED, true);
    }
    await commandsFor(videoId, 5);
    expect((await video(videoId)).status).toBe('processing');
  });

  test('results of an older attempt change nothing', async () => {
    const videoId = await processingVideo();
    await plane.engine.claim(videoId);
    await fail(videoId, 1, 'transcode_failed', true);
    await plane.engine.claim(videoId);
    await plane.engine.complete(videoId, 1);
    await fail(videoId, 1, 'not_a_video', false);
    expect((await video(videoId)).status).toBe('processing');
    await plane.engine.complete(videoId, 2);
    expect((await video(videoId)).status).toBe('ready');
  });
});

test('objects stored for a deleted video are purged when the engine reports them', async () => {
  const videoId = await processingVideo();
  await plane.engine.claim(videoId);
  await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
  const purges = () =>
    sql`select from object_purges where due_at <= now()`.execute(plane.db).then(({ rows }) => rows.length);
  await until(async () => (await purges()) === 0);
  const late = `hls/${plane.workspaceId}/${videoId}/a1/t0.1/360p/0.ts`;
  await plane.objects.put(late, Buffer.from('x'), 'video/mp2t');
  await plane.engine.complete(videoId, 1);
  await until(async () => (await plane.objects.head(late)) === null);
});

test('the deletion of a video removes its attempts', async () => {
  const videoId = await processingVideo();
  await plane.engine.claim(videoId);
  await request(plane.url).delete(`/v1/videos/${videoId}`).set(plane.credentials).expect(204);
  const attempts = plane.db.selectFrom('attempts').select('number').where('video_id', '=', videoId);
  expect(await attempts.execute()).toEqual([]);
});

describe('the lease of a first task', () => {
  test('ends the attempt once it has expired, and the next command is published', async () => {
    const videoId = await processingVideo();
    await commandsFor(videoId, 1);
    await plane.engine.claim(videoId);
    await expireLease(videoId);
    await commandsFor(videoId, 2);
    expect(await isCurrent(videoId, 1)).toBe(false);
    expect((await plane.engine.claim(videoId)).attempt).toBe(2);
    await plane.engine.complete(videoId, 1);
    expect((await video(videoId)).status).toBe('processing');
    await plane.engine.complete(videoId, 2);
    expect((await video(videoId)).status).toBe('ready');
  });

  test('is renewed by progress', async () => {
    const videoId = await processingVideo();
    await plane.engine.claim(videoId);
    const claimed = await leaseEnd(videoId);
    await plane.engine.progress(videoId, 1, 0);
    expect(await leaseEnd(videoId)).toBeGreaterThan(claimed);
    expect((await tryClaim(videoId)).status).toBe(409);
    expect(await isCurrent(videoId, 1)).toBe(true);
  });

  test('is not renewed by the progress of an older attempt, which is not shown either', async () => {
    const videoId = await processingVideo();
    await plane.engine.claim(videoId);
    await fail(videoId, 1, 'transcode_failed', true);
    await plane.engine.claim(videoId);
    const claimed = await leaseEnd(videoId);
    await plane.engine.progress(videoId, 1, 0.5);
    expect(await leaseEnd(videoId)).toBe(claimed);
    expect((await video(videoId)).progress).toBe(0);
    expect([await isCurrent(videoId, 1), await isCurrent(videoId, 2)]).toEqual([false, true]);
  });

  test.each([
    ['for the third time after its engines have reported something', 3, true],
    [
      'for the sixth time, of which the first three do not count, because no engine has reported anything',
      6,
      false,
    ],
  ])('fails the video when it expires %s', async (_, attempts, hasReported) => {
    const videoId = await processingVideo();
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      await commandsFor(videoId, attempt);
      expect((await plane.engine.claim(videoId)).attempt).toBe(attempt);
      if (hasReported) await plane.engine.progress(videoId, attempt, 0);
      await expireLease(videoId);
    }
    const failed = await until(async () => {
      const record = await video(videoId);
      return record.status === 'failed' && record;
    });
    expect(failed.error.code).toBe('internal_error');
  });
});

describe('commands', () => {
  test('that no engine claims are published again', async () => {
    const videoId = await processingVideo();
    await commandsFor(videoId, 1);
    // An engine can receive a command before the control plane has recorded that it is published.
    await until(async () => {
      const { numUpdatedRows } = await plane.db
        .updateTable('tasks')
        .set({ command_published_at: new Date(Date.now() - 3_600_000) })
        .where('video_id', '=', videoId)
        .where('command_due_at', 'is', null)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    });
    await commandsFor(videoId, 2);
  });

  test('of all processing videos are published again by a control plane that starts alone', async () => {
    const claimed = await processingVideo();
    await commandsFor(claimed, 1);
    await plane.engine.claim(claimed);
    const waiting = await processingVideo();
    await commandsFor(waiting, 1);
    await plane.startAnotherAsSingleNode();
    await commandsFor(claimed, 2);
    await commandsFor(waiting, 2);
    expect((await plane.engine.claim(claimed)).attempt).toBe(2);
    expect((await plane.engine.claim(waiting)).attempt).toBe(1);
  });
});

test('a video at whose first task a machine stops again and again fails, although each start ends all tries', async () => {
  const videoId = await processingVideo();
  for (const attempt of [1, 2, 3]) {
    expect((await plane.engine.claim(videoId)).attempt).toBe(attempt);
    await plane.engine.progress(videoId, attempt, 0);
    expect((await video(videoId)).status).toBe('processing');
    await plane.startAnotherAsSingleNode();
  }
  expect(await video(videoId)).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
});
