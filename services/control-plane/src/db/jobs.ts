import type { MessageData } from '@framelane/contracts/messages';
import { sql } from 'kysely';
import type { Database } from './database.ts';

/** The background jobs and what each is told. The tasks of the same names stand in ../jobs/. */
export type JobPayloads = {
  /** The outbox: sends a transcode command to the engines. */
  'publish-transcode': MessageData<'transcode'>;
  /** Removes objects no living row speaks of; `look` counts the repeats for late arrivals. */
  'purge-objects': { videoId: string; workspaceId: string; look: number };
  /** Finds work that got lost and starts it again. */
  reconcile: Record<string, never>;
  /** Removes what unfinished uploads left in the object store. */
  'abort-stale-uploads': Record<string, never>;
  /** Removes old webhook events with their deliveries. */
  'prune-webhook-events': Record<string, never>;
  /** Removes idempotency keys whose time is over. */
  'prune-idempotency-keys': Record<string, never>;
  /** Moves sealed values from previous secrets to the current one. */
  'reseal-secrets': Record<string, never>;
  /** Removes what is left of videos that were deleted long ago. */
  'prune-tombstones': Record<string, never>;
};
export type JobName = keyof JobPayloads;

/** Lower ones go first. What finds lost work must not wait behind much that is to be pruned, nor must a video. */
const PRIORITIES: Partial<Record<JobName, number>> = { reconcile: -20, 'publish-transcode': -10 };

/** Tries before a job is given up and somebody has to look: one every half minute, for days. */
export const MAX_TRIES = 10_000;

/**
 * Adds a job in the transaction at hand: it exists if and only if the transaction commits. A job with the same `key`
 * that has not started yet is replaced.
 */
export async function addJob<N extends JobName>(
  db: Database,
  name: N,
  payload: JobPayloads[N],
  options: { key?: string; delaySeconds?: number } = {},
): Promise<void> {
  await sql`
    select graphile_worker.add_job(
      ${name},
      payload => ${JSON.stringify(payload)}::json,
      run_at => now() + make_interval(secs => ${options.delaySeconds ?? 0}),
      max_attempts => ${MAX_TRIES},
      job_key => ${options.key ?? null},
      job_key_mode => ${name === 'reconcile' ? 'preserve_run_at' : 'replace'},
      priority => ${PRIORITIES[name] ?? 0}
    )`.execute(db);
}
