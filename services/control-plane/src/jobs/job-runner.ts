import { EventEmitter } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@framelane/service-kit/logger';
import {
  Logger as JobLogger,
  makeWorkerUtils,
  type Runner,
  run,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker';
import type pg from 'pg';
import { type JobName, type JobPayloads, MAX_TRIES } from '../db/jobs.ts';

/** A task does one job; when it throws, the job is tried again later. */
export type Tasks = { [N in JobName]: (payload: JobPayloads[N]) => Promise<void> };

/** How often a worker says that it lives, and after how long a silence its jobs are free for others. */
const BEAT_MS = 5_000;
const SILENT_SECONDS = 30;

/** The longest pause before a job that failed is tried again. */
const LONGEST_PAUSE_SECONDS = 30;

/** Pause before the worker is started again that gave up on the database. */
const RESTART_MS = 1000;

/** Makes or updates the tables of the job queue. */
export async function migrateJobs(pgPool: pg.Pool, logger: Logger): Promise<void> {
  const utils = await makeWorkerUtils({ pgPool, logger: jobLogger(logger) });
  await utils.migrate();
  await utils.release();
}

/** Works on the background jobs it is given until it is stopped; a worker that loses the database is replaced. */
export class JobRunner {
  readonly #pgPool: pg.Pool;
  readonly #concurrency: number;
  readonly #crontab: string;
  readonly #logger: Logger;
  readonly #jobLogger: JobLogger;
  readonly #stopping = new AbortController();
  #runner: Runner | undefined;
  #workerId: string | undefined;
  #heart: NodeJS.Timeout | undefined;
  #supervision: Promise<void> | undefined;

  /** `concurrency` is how many jobs it works on at once; `crontab` names those that come by the clock. */
  constructor(deps: { pgPool: pg.Pool; logger: Logger; concurrency: number; crontab?: string }) {
    this.#pgPool = deps.pgPool;
    this.#concurrency = deps.concurrency;
    this.#crontab = deps.crontab ?? '';
    this.#logger = deps.logger;
    this.#jobLogger = jobLogger(deps.logger);
  }

  /**
   * Frees the jobs of workers that died; graphile-worker would wait four hours for them. Dead is who was silent for
   * half a minute or, at a moment when no worker runs, everybody. A worker that was only cut off may do a job that is
   * done again by another, which no job minds.
   */
  async freeAbandonedJobs({ noneRuns = false } = {}): Promise<void> {
    const { rows } = await this.#pgPool.query<{ worker: string }>(
      `select distinct locked_by as worker from graphile_worker.jobs
        where locked_by is not null and ($1 or locked_at < now() - make_interval(secs => $2) and not exists (
          select from job_workers where id = locked_by and seen_at > now() - make_interval(secs => $2)))`,
      [noneRuns, SILENT_SECONDS],
    );
    if (rows.length === 0) return;
    const workers = rows.map(({ worker }) => worker);
    this.#logger.warn('jobs.freed', { workers });
    const utils = await makeWorkerUtils({ pgPool: this.#pgPool, logger: this.#jobLogger });
    await utils.forceUnlockWorkers(workers);
    await utils.release();
  }

  /**
   * Has jobs that failed tried again soon. Most fail because something is away, and graphile-worker's pauses grow with each
   * try up to six hours: so much longer would what waits in them be away, too. Tries come faster then, so each gets as many
   * as a job of today has, also one that was added by an older version.
   */
  async hastenRetries(): Promise<void> {
    await this.#pgPool.query(
      `with latest as (select now() + make_interval(secs => $1) as run_at)
        select from latest, graphile_worker.reschedule_jobs(
          array(select id from graphile_worker.jobs
            where locked_at is null and attempts between 1 and max_attempts - 1 and jobs.run_at > latest.run_at),
          run_at => latest.run_at, max_attempts => $2)`,
      [LONGEST_PAUSE_SECONDS, MAX_TRIES],
    );
  }

  /** Begins to work. */
  async start(tasks: Partial<Tasks>): Promise<void> {
    this.#runner = await this.#run(tasks);
    this.#supervision = this.#supervise(tasks);
    this.#heart = setInterval(() => this.#beat(), BEAT_MS);
  }

  /** Takes no new jobs and resolves when those under way are done. */
  async stop(): Promise<void> {
    clearInterval(this.#heart);
    this.#stopping.abort();
    // It rejects when the worker has just stopped by itself, which is all that is wanted.
    await this.#runner?.stop().catch(() => {});
    await this.#supervision;
  }

  #run(tasks: Partial<Tasks>): Promise<Runner> {
    const events: WorkerEvents = new EventEmitter();
    events.on('pool:create', ({ workerPool }) => {
      this.#workerId = workerPool.id;
      this.#beat();
    });
    return run({
      events,
      pgPool: this.#pgPool,
      taskList: tasks as TaskList,
      concurrency: this.#concurrency,
      // The service stops it in its own order.
      noHandleSignals: true,
      crontab: this.#crontab,
      logger: this.#jobLogger,
      // Without a batch, however short, the worker does not wait until the end of a job is written: a stop would leave
      // the job behind as taken, and a database that is away would end the process with a rejection nobody handles.
      preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    });
  }

  /** Says that this worker lives. Without a database nobody can tell it dead either. */
  #beat(): void {
    this.#pgPool
      .query(
        `with gone as (delete from job_workers where seen_at < now() - interval '1 day')
         insert into job_workers (id, seen_at) values ($1, now()) on conflict (id) do update set seen_at = now()`,
        [this.#workerId],
      )
      .catch((error) => this.#logger.debug('jobs.beat_missed', { error }));
  }

  async #supervise(tasks: Partial<Tasks>): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.#runner?.promise.catch((error) => this.#logger.error('jobs.worker_lost', { error }));
      if (this.#stopping.signal.aborted) return;
      await pause(RESTART_MS, undefined, { signal: this.#stopping.signal }).catch(() => {});
      if (this.#stopping.signal.aborted) return;
      try {
        const runner = await this.#run(tasks);
        this.#runner = runner;
        if (this.#stopping.signal.aborted) return void (await runner.stop());
        this.#logger.warn('jobs.worker_replaced');
      } catch (error) {
        this.#runner = undefined;
        this.#logger.error('jobs.worker_not_started', { error });
      }
    }
  }
}

/** Its errors and warnings go to our log; its news on every job does not. */
function jobLogger(logger: Logger): JobLogger {
  return new JobLogger(() => (level, message, meta) => {
    if (level === 'error') logger.error('jobs.error', { detail: message, ...meta });
    else if (level === 'warning') logger.warn('jobs.warning', { detail: message });
  });
}
