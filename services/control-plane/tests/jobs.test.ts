import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import { addJob, MAX_TRIES } from '../src/db/jobs.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { until } from './support/until.ts';

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
