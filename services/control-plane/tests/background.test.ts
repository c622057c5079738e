import { PrometheusText } from '@framelane/test-kit/prometheus-text';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type RawBuilder, sql } from 'kysely';
import request from 'supertest';
import { COMMANDS_IN_QUEUE } from '../src/background/due-loop.ts';
import type { MaintenanceStep } from '../src/metrics/metrics.ts';
import { requestPurge } from '../src/videos/object-purges.store.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

/** The steps that find lost work. */
const STEPS: MaintenanceStep[] = [
  'expire-tickets',
  'expire-imports',
  'remove-outdated-videos',
  'delete-due-sources',
  'end-expired-tasks',
  'reissue-lost-commands',
];

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await startControlPlane();
});
afterEach(() => plane.stop());

/** Creates a video whose first attempt failed, with an object of that attempt. Its purge is scheduled for later. */
async function orphanedObject(): Promise<{ videoId: string; isPurged: () => Promise<boolean> }> {
  const { videoId, uploadToken } = await plane.ticket();
  await plane.engine.upload(uploadToken);
  const { attempt } = await plane.engine.claim(videoId);
  await plane.engine.fail(videoId, attempt, { code: 'not_a_video', message: 'No video.' });
  await until(async () => (await purgeOf(videoId))?.pass === 2);
  const key = `hls/${plane.workspaceId}/${videoId}/a1/360p/0.ts`;
  await plane.objects.put(key, Buffer.from('x'), 'video/mp2t');
  return { videoId, isPurged: async () => (await plane.objects.head(key)) === null };
}

function purgeOf(videoId: string) {
  return plane.db.selectFrom('object_purges').selectAll().where('video_id', '=', videoId).executeTakeFirst();
}

/** Changes the purge of a video. */
async function setPurge(videoId: string, values: { due_at?: Date; claimed_until?: Date }): Promise<void> {
  await plane.db.updateTable('object_purges').set(values).where('video_id', '=', videoId).execute();
}

const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);

describe('purges', () => {
  test('are due only if their transaction commits', async () => {
    const { videoId } = await plane.ticket();
    const rolledBack = plane.db.transaction().execute(async (trx) => {
      await requestPurge(trx, videoId);
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    expect(await purgeOf(videoId)).toBeUndefined();
  });

  test('continue after every connection to the database was lost', async () => {
    const { videoId, isPurged } = await orphanedObject();
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'framelane-control-plane'
        and pid <> pg_backend_pid()`.execute(plane.db);
    await until(() =>
      setPurge(videoId, { due_at: secondsAgo(1) }).then(
        () => true,
        () => false,
      ),
    );
    await until(isPurged);
    expect((await fetch(`${plane.url}/readyz`)).status).toBe(200);
  });

  test('delay no other work while the storage does not respond', async () => {
    const silence = Promise.withResolvers<void>();
    const videoIds: string[] = [];
    for (let n = 0; n < 8; n++) videoIds.push((await plane.ticket()).videoId);
    const deleting = jest.spyOn(plane.objects, 'deletePrefix').mockReturnValue(silence.promise);
    for (const id of videoIds) await request(plane.url).delete(`/v1/videos/${id}`).set(plane.credentials);
    await until(() => deleting.mock.calls.length >= 4);

    await plane.db
      .updateTable('maintenance_steps')
      .set({ due_at: secondsAgo(1) })
      .execute();
    const due = plane.db
      .selectFrom('maintenance_steps')
      .select('name')
      .where('due_at', '<=', sql<Date>`now()`);
    await until(async () => (await due.execute()).length === 0);
    const { uploadToken } = await plane.ticket();
    await plane.engine.upload(uploadToken);
    await until(async () => (await plane.bus.countWaiting('engine.commands')) === 1);

    expect(deleting).toHaveBeenCalledTimes(4);
    silence.resolve();
    await until(async () => (await Promise.all(videoIds.map(purgeOf))).every((purge) => purge?.pass === 2));
  });

  test('that fail are retried within 30 s, without a limit', async () => {
    const { videoId, isPurged } = await orphanedObject();
    const deleting = jest.spyOn(plane.objects, 'deletePrefix').mockRejectedValue(new Error('unavailable'));
    const due_at = secondsAgo(7200);
    await setPurge(videoId, { due_at });
    await until(() => deleting.mock.calls.length > 0);
    const failed = await until(async () => {
      const purge = await purgeOf(videoId);
      const pause = ((purge?.claimed_until?.getTime() ?? 0) - Date.now()) / 1000;
      return pause > 0 && pause <= 30 && purge;
    });
    // The due time stays.
    expect(failed).toMatchObject({ pass: 2, due_at });

    deleting.mockRestore();
    await setPurge(videoId, { claimed_until: secondsAgo(1) });
    await until(isPurged);
  });

  test('claimed by a process that died are retried once the claim has expired', async () => {
    const [died, busy] = [await orphanedObject(), await orphanedObject()];
    await setPurge(busy.videoId, { due_at: secondsAgo(1), claimed_until: secondsAgo(-600) });
    await setPurge(died.videoId, { due_at: secondsAgo(1), claimed_until: secondsAgo(1) });
    await until(died.isPurged);
    expect(await busy.isPurged()).toBe(false);
  });

  test('claimed by a process that died are retried at once by a control plane that starts alone', async () => {
    const [died, later] = [await orphanedObject(), await orphanedObject()];
    await setPurge(died.videoId, { due_at: secondsAgo(1), claimed_until: secondsAgo(-600) });
    await plane.startAnotherAsSingleNode();
    await until(died.isPurged);
    expect(await later.isPurged()).toBe(false);
  });
});

describe('the steps that find lost work', () => {
  const deletedVideos = async () => {
    const deleted = plane.db.selectFrom('videos').select('id').where('deleted_at', 'is not', null);
    return (await deleted.execute()).map(({ id }) => id);
  };
  /** Videos that are due for removal, the first one first. */
  const outdatedVideos = async (count: number) => {
    const ids: string[] = [];
    for (let n = count; n > 0; n--) {
      const { videoId } = await plane.ticket();
      const remove_at = new Date(Date.now() - n * 60_000);
      await plane.db.updateTable('videos').set({ remove_at }).where('id', '=', videoId).execute();
      ids.push(videoId);
    }
    return ids;
  };

  /** Makes the database refuse updates of certain videos. */
  const refuseUpdates = async (condition: RawBuilder<unknown>) => {
    await sql`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`.execute(
      plane.db,
    );
    await sql`
      create trigger refuse before update on videos
      for each row when (${condition}) execute function refuse()`.execute(plane.db);
  };

  test('all run even if one fails, and the failure is counted', async () => {
    const outdated = await outdatedVideos(1);
    const expired = await plane.ticket();
    const expires_at = sql<Date>`now()`;
    await plane.db
      .updateTable('upload_tickets')
      .set({ expires_at })
      .where('video_id', '=', expired.videoId)
      .execute();
    await refuseUpdates(sql`new.status = 'failed'`);

    await plane.maintain(...STEPS);

    expect(await deletedVideos()).toEqual(outdated);
    const metrics = await fetch(`${plane.engine.internalUrl}/metrics`);
    const { series } = PrometheusText.parse(await metrics.text());
    expect(series.get('framelane_maintenance_failures_total{step="expire-tickets"}')).toBeGreaterThan(0);
    expect(series.get('framelane_maintenance_failures_total{step="remove-outdated-videos"}')).toBe(0);
  });

  test('continue with the other videos when one fails', async () => {
    const [refused, ...others] = await outdatedVideos(3);
    await refuseUpdates(sql`old.id = ${sql.lit(refused)}`);

    await plane.maintain(...STEPS);

    expect((await deletedVideos()).toSorted()).toEqual(others.toSorted());
  });
});

describe('commands to plan videos', () => {
  const waiting = () => plane.bus.countWaiting('engine.commands');

  /** Creates videos whose commands wait in the queue, published that many minutes ago. */
  async function queued(minutesAgo: number[]): Promise<string[]> {
    const ids: string[] = [];
    for (const minutes of minutesAgo) {
      const { videoId, uploadToken } = await plane.ticket();
      await plane.engine.upload(uploadToken);
      const sent = new Date(Date.now() - minutes * 60_000);
      ids.push(videoId);
      // The queue has a command before the control plane has recorded that it is published.
      await until(async () => {
        const { numUpdatedRows } = await plane.db
          .updateTable('tasks')
          .set({ command_published_at: sent })
          .where('video_id', '=', videoId)
          .where('command_due_at', 'is', null)
          .executeTakeFirst();
        return numUpdatedRows === 1n;
      });
    }
    expect(await waiting()).toBe(ids.length);
    return ids;
  }

  test('that the queue lacks are published again, the oldest first', async () => {
    const [oldest = ''] = await queued([30, 20, 10]);
    const publishing = jest.spyOn(plane.bus, 'publish');
    // RabbitMQ sometimes counts too few, so one count is not enough.
    jest.spyOn(plane.bus, 'countWaiting').mockResolvedValueOnce(2).mockResolvedValueOnce(2);
    for (let n = 0; n < 3; n++) await plane.maintain(...STEPS);
    await until(async () => (await waiting()) === 4);
    expect(publishing.mock.calls.map(([message]) => message.data.videoId)).toEqual([oldest]);
  });

  test('that have waited for a day are published again, although the queue seems to have them', async () => {
    const [oldest = ''] = await queued([1500, 1400]);
    const publishing = jest.spyOn(plane.bus, 'publish');
    await plane.maintain(...STEPS);
    await until(async () => (await waiting()) === 3);
    expect(publishing.mock.calls.map(([message]) => message.data.videoId)).toEqual([oldest]);
  });

  test('that wait in the queue are not published again for a day', async () => {
    const times = () =>
      plane.db.selectFrom('tasks').select(['video_id', 'command_due_at', 'command_published_at']).execute();
    await queued([1300, 1200]);
    const before = await times();
    for (let n = 0; n < 3; n++) await plane.maintain(...STEPS);
    expect(await times()).toEqual(before);
  });

  test('are all due again for a control plane that starts alone, which publishes a few of each workspace', async () => {
    const [videoId] = await queued([1]);
    await sql`
      insert into videos (id, workspace_id, environment, status, title, filename, size, sha256, uploaded_at,
        attempt)
      select 'vid_' || n, workspace_id, environment, status, title, filename, size, sha256, uploaded_at,
        attempt
      from videos, generate_series(1, 249) as n where id = ${videoId}`.execute(plane.db);
    await sql`
      insert into attempts (video_id, number, due_at)
      select 'vid_' || n, number, due_at from attempts, generate_series(1, 249) as n`.execute(plane.db);
    await sql`
      insert into tasks (video_id, workspace_id, attempt, number, kind, command, frames, command_published_at)
      select 'vid_' || n, workspace_id, attempt, number, kind, command, frames, command_published_at
      from tasks, generate_series(1, 249) as n`.execute(plane.db);
    await plane.startAnotherAsSingleNode();
    // One was in the queue before.
    await until(async () => (await waiting()) === 1 + COMMANDS_IN_QUEUE);
    const due = plane.db.selectFrom('tasks').select('video_id').where('command_due_at', 'is not', null);
    await until(async () => (await due.execute()).length === 250 - COMMANDS_IN_QUEUE);
  });
});
