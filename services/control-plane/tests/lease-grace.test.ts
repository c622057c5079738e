import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import { PLAN_VERSION } from '@framelane/contracts/transcode-plan';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { firstTry } from './support/engine.ts';
import { planOf, resultOfWhole, sampleManifest } from './support/manifest.ts';
import { samplePlan } from './support/plan.ts';

/** Also the duration of the lease grace: longer than the tests of the grace, but short, because the last test waits for its end. */
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
  await sql`update tasks set lease_expires_at = now() - interval '1 hour' where lease_expires_at is not null`.execute(
    plane.db,
  );
  await sql`
    update upload_tickets set lease_expires_at = now() - interval '1 hour', expires_at = now() - interval '1 hour'
    where used_at is null`.execute(plane.db);
  const another = await plane.startAnother();
  const maintain = () => another.maintain('expire-tickets', 'end-expired-tasks');
  await maintain();
  return { maintain };
}

const statusOf = async (videoId: string) =>
  (await plane.db.selectFrom('videos').select('status').where('id', '=', videoId).executeTakeFirstOrThrow())
    .status;

const leasedTasks = async () =>
  (await plane.db.selectFrom('tasks').select('number').where('lease_expires_at', 'is not', null).execute())
    .length;

/** Claims a task of a video whose attempt has a plan. */
async function claimTask(): Promise<void> {
  const { videoId, uploadToken } = await plane.ticket();
  await plane.engine.upload(uploadToken);
  const { attempt } = await plane.engine.claim(videoId);
  await plane.engine.storePlan(videoId, attempt, samplePlan());
  await plane.engine.request(INTERNAL_PATHS.claimTask, {
    videoId,
    command: 'task',
    planVersion: PLAN_VERSION,
  });
}

test('the first task of a live engine is not ended during the grace', async () => {
  const { videoId, uploadToken } = await plane.ticket();
  await plane.engine.upload(uploadToken);
  const { attempt } = await plane.engine.claim(videoId);
  await plane.engine.storePlan(videoId, attempt, planOf(sampleManifest()));

  await longAbsence();

  expect(await leasedTasks()).toBe(1);
  const result = resultOfWhole(sampleManifest());
  await plane.engine.report('task.completed', { ...firstTry(videoId, attempt), result });
  expect(await statusOf(videoId)).toBe('ready');
});

test('a task of a plan is not ended during the grace, if its engine lives', async () => {
  await claimTask();

  await longAbsence();

  expect(await leasedTasks()).toBe(1);
});

test('the ticket of a transfer in progress does not expire during the grace', async () => {
  const { videoId, uploadToken } = await plane.ticket();
  const { transferId } = await plane.engine.redeem(uploadToken);

  await longAbsence();

  expect(await statusOf(videoId)).toBe('uploading');
  await plane.engine.report('upload.completed', {
    videoId,
    transferId,
    bytes: 5,
    sha256: 'ab'.repeat(32),
  });
  expect(await statusOf(videoId)).toBe('processing');
});

test('leases that are not renewed during the grace expire after it', async () => {
  const planned = await plane.ticket();
  await plane.engine.upload(planned.uploadToken);
  await plane.engine.claim(planned.videoId);
  const { videoId, uploadToken } = await plane.ticket();
  await plane.engine.redeem(uploadToken);
  await claimTask();

  const { maintain } = await longAbsence();

  expect(await leasedTasks()).toBe(2);
  await until(async () => {
    await maintain();
    return (await leasedTasks()) === 0 && (await statusOf(videoId)) === 'failed';
  });
});
