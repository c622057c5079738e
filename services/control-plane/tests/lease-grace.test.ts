import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

/** Also the duration of the lease grace: longer than the first two tests, but short, because the third test waits for its end. */
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

/** All control planes are down for longer than a lease; then one starts and runs its maintenance steps. */
async function longAbsence(): Promise<{ maintain(): Promise<void> }> {
  await plane.stopFirst();
  await sql`update attempts set lease_expires_at = now() - interval '1 hour' where outcome is null`.execute(
    plane.db,
  );
  await sql`
    update upload_tickets set lease_expires_at = now() - interval '1 hour', expires_at = now() - interval '1 hour'
    where used_at is null`.execute(plane.db);
  const another = await plane.startAnother();
  const maintain = () => another.maintain('expire-tickets', 'end-expired-attempts');
  await maintain();
  return { maintain };
}

const statusOf = async (videoId: string) =>
  (await plane.db.selectFrom('videos').select('status').where('id', '=', videoId).executeTakeFirstOrThrow())
    .status;

const openAttempts = async () =>
  (await plane.db.selectFrom('attempts').select('number').where('outcome', 'is', null).execute()).length;

test('an attempt of a live engine is not ended during the grace', async () => {
  const { videoId, uploadToken } = await plane.ticket();
  await plane.engine.upload(uploadToken);
  const { attempt } = await plane.engine.claim(videoId);

  await longAbsence();

  expect(await openAttempts()).toBe(1);
  await plane.engine.complete(videoId, attempt);
  expect(await statusOf(videoId)).toBe('ready');
});

test('the ticket of a transfer in progress does not expire during the grace', async () => {
  const { videoId, uploadToken } = await plane.ticket();
  const { transferId } = await plane.engine.redeem(uploadToken);

  await longAbsence();

  expect(await statusOf(videoId)).toBe('uploading');
  await plane.engine.report('upload.completed', {
    ...{ videoId, transferId, bytes: 5, sha256: 'ab'.repeat(32) },
  });
  expect(await statusOf(videoId)).toBe('processing');
});

test('leases that are not renewed during the grace expire after it', async () => {
  const attempted = await plane.ticket();
  await plane.engine.upload(attempted.uploadToken);
  await plane.engine.claim(attempted.videoId);
  const { videoId, uploadToken } = await plane.ticket();
  await plane.engine.redeem(uploadToken);

  const { maintain } = await longAbsence();

  expect(await openAttempts()).toBe(1);
  await until(async () => {
    await maintain();
    return (await openAttempts()) === 0 && (await statusOf(videoId)) === 'failed';
  });
});
