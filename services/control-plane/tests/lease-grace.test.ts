import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

/** The tests send all heartbeats themselves. */
const LEASE_SECONDS = 3;

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await startControlPlane((config) => ({
    ...config,
    uploads: { ...config.uploads, leaseSeconds: LEASE_SECONDS },
    attempts: { ...config.attempts, leaseSeconds: LEASE_SECONDS },
  }));
});
afterEach(() => plane.stop());

/** All control planes are down for longer than a lease; then one starts and takes its maintenance steps. */
async function longAbsence(): Promise<{ reconcile(): Promise<void> }> {
  await plane.stopAlone();
  await sql`update attempts set lease_expires_at = now() - interval '1 hour' where outcome is null`.execute(
    plane.db,
  );
  await sql`
    update upload_tickets set lease_expires_at = now() - interval '1 hour', expires_at = now() - interval '1 hour'
    where used_at is null`.execute(plane.db);
  const another = await plane.startAnother();
  const reconcile = () => another.maintain('expire-tickets', 'end-silent-attempts');
  await reconcile();
  return { reconcile };
}

const statusOf = async (videoId: string) =>
  (await plane.db.selectFrom('videos').select('status').where('id', '=', videoId).executeTakeFirstOrThrow())
    .status;

const openAttempts = async () =>
  (await plane.db.selectFrom('attempts').select('number').where('outcome', 'is', null).execute()).length;

test('does not end an attempt whose engine is alive', async () => {
  const { videoId, uploadToken } = await plane.ticket();
  await plane.engine.upload(uploadToken);
  const { attempt } = await plane.engine.claim(videoId);

  await longAbsence();

  expect(await openAttempts()).toBe(1);
  await plane.engine.complete(videoId, attempt);
  expect(await statusOf(videoId)).toBe('ready');
});

test('does not expire the ticket of a current transfer', async () => {
  const { videoId, uploadToken } = await plane.ticket();
  const { transferId } = await plane.engine.redeem(uploadToken);

  await longAbsence();

  expect(await statusOf(videoId)).toBe('uploading');
  await plane.engine.report('upload.completed', {
    ...{ videoId, transferId, bytes: 5, sha256: 'ab'.repeat(32) },
  });
  expect(await statusOf(videoId)).toBe('processing');
});

test('ends leases that are not renewed within the grace', async () => {
  const attempted = await plane.ticket();
  await plane.engine.upload(attempted.uploadToken);
  await plane.engine.claim(attempted.videoId);
  const { videoId, uploadToken } = await plane.ticket();
  await plane.engine.redeem(uploadToken);

  const { reconcile } = await longAbsence();

  expect(await openAttempts()).toBe(1);
  await until(async () => {
    await reconcile();
    return (await openAttempts()) === 0 && (await statusOf(videoId)) === 'failed';
  });
});
