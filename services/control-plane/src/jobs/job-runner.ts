import type { Logger } from '@framelane/service-kit/logger';
import { Logger as JobLogger, type Runner, run, runMigrations, type TaskList } from 'graphile-worker';
import type pg from 'pg';
import type { JobName, JobPayloads } from '../db/jobs.ts';

/** A task does one job; when it throws, the job is tried again later. */
export type Tasks = { [N in JobName]: (payload: JobPayloads[N]) => Promise<void> };

/** Jobs one control plane works on at once. */
const CONCURRENCY = 4;

/** Makes or updates the tables of the job queue. */
export async function migrateJobs(pgPool: pg.Pool, logger: Logger): Promise<void> {
  await runMigrations({ pgPool, logger: jobLogger(logger) });
}

/** Starts working on jobs. */
export async function startJobs(pgPool: pg.Pool, tasks: Tasks, logger: Logger): Promise<Runner> {
  return run({
    pgPool,
    taskList: tasks as TaskList,
    concurrency: CONCURRENCY,
    // The service stops it in its own order.
    noHandleSignals: true,
    crontab: '17 * * * * abort-stale-uploads',
    logger: jobLogger(logger),
  });
}

/** Its errors and warnings go to our log; its news on every job does not. */
function jobLogger(logger: Logger): JobLogger {
  return new JobLogger(() => (level, message, meta) => {
    if (level === 'error') logger.error('jobs.error', { detail: message, ...meta });
    else if (level === 'warning') logger.warn('jobs.warning', { detail: message });
  });
}
