import { PrometheusText } from '@framelane/test-kit/prometheus-text';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type RawBuilder, sql } from 'kysely';
import { addJob, MAX_TRIES } from '../src/db/jobs.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await startControlPlane();
});
afterEach(() => plane.stop());

/** An object that a purge removes, and the purge that will. */
async function leftover(videoId: string): Promise<() => Promise<boolean>> {
  const key = `hls/${plane.workspaceId}/${videoId}/a1/360p/0.ts`;
  await plane.objects.put(key, Buffer.from('x'), 'video/mp2t');
  return async () => (await plane.objects.head(key)) === null;
}

test('a job exists only if its transaction commits', async () => {
  const purge = { videoId: 'vid_rolled_back', workspaceId: plane.workspaceId, look: 3 };
  const rolledBack = plane.db.transaction().execute(async (trx) => {
    await addJob(trx, 'purge-objects', purge);
    throw new Error('no');
  });
  await expect(rolledBack).rejects.toThrow('no');
  const { rows } =
    await sql`select from graphile_worker.jobs where task_identifier = 'purge-objects'`.execute(plane.db);
  expect(rows).toEqual([]);
});

test('jobs go on after every connection to the database was lost', async () => {
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'framelane-control-plane' and pid <> pg_backend_pid()
  `.execute(plane.db);
  const purged = await leftover('vid_a');
  const purge = { videoId: 'vid_a', workspaceId: plane.workspaceId, look: 3 };
  await until(() =>
    addJob(plane.db, 'purge-objects', purge)
      .then(() => true)
      .catch(() => false),
  );
  await until(purged);
  const answer = await fetch(`${plane.url}/readyz`);
  expect(answer.status).toBe(200);
});

test('a storage that does not answer holds up purges and no other job', async () => {
  const silence = Promise.withResolvers<void>();
  const deleting = jest.spyOn(plane.objects, 'deletePrefix').mockReturnValue(silence.promise);
  for (let n = 0; n < 8; n++) {
    await addJob(plane.db, 'purge-objects', { videoId: `vid_${n}`, workspaceId: plane.workspaceId, look: 3 });
  }
  await until(async () => deleting.mock.calls.length >= 4);

  await addJob(plane.db, 'prune-idempotency-keys', {});

  const left = async (task: string) => {
    const { rows } = await sql`select from graphile_worker.jobs where task_identifier = ${task}`.execute(
      plane.db,
    );
    return rows.length;
  };
  await until(async () => (await left('prune-idempotency-keys')) === 0);
  expect(await left('purge-objects')).toBe(8);
  silence.resolve();
  await until(async () => (await left('purge-objects')) === 0);
});

test('a control plane that starts alone takes up the jobs of one that died', async () => {
  const purged = await leftover('vid_b');
  await plane.db.transaction().execute(async (trx) => {
    await addJob(trx, 'purge-objects', { videoId: 'vid_b', workspaceId: plane.workspaceId, look: 3 });
    await sql`update graphile_worker._private_jobs set locked_by = 'died', locked_at = now()`.execute(trx);
  });
  await plane.startAnotherAlone();
  await until(purged);
});

test('takes up the jobs of a worker that fell silent, and no others', async () => {
  const purged = await leftover('vid_silent');
  const keptByOther = await leftover('vid_busy');
  const longAgo = sql`now() - interval '1 hour'`;
  await plane.db.transaction().execute(async (trx) => {
    for (const [videoId, worker] of [
      ['vid_silent', 'died'],
      ['vid_busy', 'alive'],
    ] as const) {
      await addJob(trx, 'purge-objects', { videoId, workspaceId: plane.workspaceId, look: 3 });
      await sql`
        update graphile_worker._private_jobs set locked_by = ${worker}, locked_at = ${longAgo}
        where locked_by is null`.execute(trx);
    }
    await sql`insert into job_workers (id, seen_at) values ('alive', now()), ('died', ${longAgo})`.execute(
      trx,
    );
  });

  await addJob(plane.db, 'reconcile', {});

  await until(purged);
  expect(await keptByOther()).toBe(false);
  const { rows } = await sql`select locked_by from graphile_worker.jobs where locked_by = 'alive'`.execute(
    plane.db,
  );
  expect(rows).toHaveLength(1);
});

test('what failed often is tried again soon; what is for later, or was given up, is left alone', async () => {
  const later = { videoId: 'vid_later', workspaceId: plane.workspaceId, look: 3 };
  await plane.db.transaction().execute(async (trx) => {
    await addJob(trx, 'purge-objects', { ...later, videoId: 'vid_failing' }, { key: 'failing' });
    await addJob(trx, 'purge-objects', later, { key: 'later', delaySeconds: 3600 });
    await addJob(trx, 'purge-objects', later, { key: 'given up' });
    await sql`
      update graphile_worker._private_jobs set run_at = now() + interval '6 hours',
        attempts = case key when 'failing' then 12 when 'given up' then max_attempts else 0 end,
        max_attempts = case key when 'failing' then 25 else max_attempts end`.execute(trx);
  });

  await addJob(plane.db, 'reconcile', {});

  const jobs = async () => {
    const { rows } = await sql<{ key: string; pause: number; tries: number }>`
      select key, extract(epoch from run_at - now())::float8 as pause, max_attempts as tries
      from graphile_worker.jobs where task_identifier = 'purge-objects'`.execute(plane.db);
    return Object.fromEntries(rows.map(({ key, ...job }) => [key, job]));
  };
  const { failing } = await until(async () => {
    const found = await jobs();
    return found.failing !== undefined && found.failing.pause < 3600 && { failing: found.failing };
  });
  expect(failing.pause).toBeLessThanOrEqual(30);
  expect(failing.tries).toBe(MAX_TRIES);
  expect(await jobs()).toMatchObject({
    later: { pause: expect.closeTo(21_600, -3) },
    'given up': { pause: expect.closeTo(21_600, -3) },
  });
});

/** Runs the reconciler once. */
async function reconcile(): Promise<void> {
  const key = `reconcile-${Math.random()}`;
  await addJob(plane.db, 'reconcile', {}, { key });
  await until(async () => {
    const { rows } = await sql`
      select from graphile_worker.jobs
      where key = ${key} and (attempts = 0 or locked_at is not null)`.execute(plane.db);
    return rows.length === 0;
  });
}

describe('the reconciler', () => {
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

  /** Has the database refuse updates of certain videos. */
  const refuseUpdates = async (condition: RawBuilder<unknown>) => {
    await sql`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`.execute(
      plane.db,
    );
    await sql`
      create trigger refuse before update on videos
      for each row when (${condition}) execute function refuse()`.execute(plane.db);
  };

  test('takes every step, also when one fails, and counts it', async () => {
    const outdated = await outdatedVideos(1);
    const expired = await plane.ticket();
    const expires_at = sql<Date>`now()`;
    await plane.db
      .updateTable('upload_tickets')
      .set({ expires_at })
      .where('video_id', '=', expired.videoId)
      .execute();
    await refuseUpdates(sql`new.status = 'failed'`);

    await reconcile();

    expect(await deletedVideos()).toEqual(outdated);
    const metrics = await fetch(`${plane.engine.internalUrl}/metrics`);
    const { series } = PrometheusText.parse(await metrics.text());
    expect(series.get('framelane_reconcile_failures_total{step="expire-tickets"}')).toBeGreaterThan(0);
    expect(series.get('framelane_reconcile_failures_total{step="remove-outdated-videos"}')).toBe(0);
  });

  test('does what it can of a step', async () => {
    const [refused, ...others] = await outdatedVideos(3);
    await refuseUpdates(sql`old.id = ${sql.lit(refused)}`);

    await reconcile();

    expect((await deletedVideos()).toSorted()).toEqual(others.toSorted());
  });
});

describe('transcode commands', () => {
  const waiting = () => plane.bus.countWaiting('engine.commands');

  /** Videos whose commands wait in the queue, sent so many minutes ago. */
  async function queued(minutesAgo: number[]): Promise<string[]> {
    const ids: string[] = [];
    for (const minutes of minutesAgo) {
      const { videoId, uploadToken } = await plane.ticket();
      await plane.engine.upload(uploadToken);
      const sent = new Date(Date.now() - minutes * 60_000);
      ids.push(videoId);
      await until(async () => (await waiting()) === ids.length);
      await plane.db
        .updateTable('videos')
        .set({ command_issued_at: sent, waiting_since: sent })
        .where('id', '=', videoId)
        .execute();
    }
    return ids;
  }

  test('that wait in a long queue are not sent again', async () => {
    await queued([90, 60, 30]);
    for (let n = 0; n < 3; n++) await reconcile();
    expect(await waiting()).toBe(3);
  });

  test('are sent again when later ones have been claimed, though the queue is not empty', async () => {
    const [lost = '', , claimed = ''] = await queued([60, 45, 35]);
    await plane.engine.claim(claimed);
    const publishing = jest.spyOn(plane.bus, 'publish');
    for (let n = 0; n < 3; n++) await reconcile();
    await until(async () => (await waiting()) === 4);
    expect(publishing.mock.calls.map(([message]) => message.data.videoId)).toEqual([lost]);
  });

  test('are all sent again by a control plane that starts alone, however many there are', async () => {
    const [videoId] = await queued([1]);
    await sql`
      insert into videos (id, workspace_id, environment, status, title, filename, size, sha256, source_key,
        uploaded_at, command_issued_at)
      select 'vid_' || n, workspace_id, environment, status, title, filename, size, sha256, source_key,
        uploaded_at, command_issued_at
      from videos, generate_series(1, 249) as n where id = ${videoId}`.execute(plane.db);
    await plane.startAnotherAlone();
    await until(async () => (await waiting()) === 251);
  });
});
