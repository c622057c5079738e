import type { RequestHandler } from 'express';
import pTimeout from 'p-timeout';
import { type ThreadPoolProbe, threadPool } from './thread-pool.ts';

/** Time limit of the checks. The probes of infra/kubernetes wait for at least five seconds. */
const TIMEOUT_MS = 3_000;

/** Requests within this time share one run of the readiness checks: the endpoint is public and some checks write. */
const SHARED_MS = 1_000;

/**
 * `GET /healthz`: 200 while this process works, whatever the state of its dependencies. 503 when its thread pool is
 * blocked, which only a restart solves.
 */
export function liveness(pool: ThreadPoolProbe = threadPool): RequestHandler {
  return async (_req, res) => {
    const isAlive = await pool.responds(TIMEOUT_MS);
    res
      .status(isAlive ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ status: isAlive ? 'ok' : 'blocked' });
  };
}

/** What a service needs to serve requests, by name. A check rejects while its dependency is unavailable. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

/**
 * `GET /readyz`: 200 when every check passes, else 503 with the names of those that failed. Responds within `limitMs`.
 */
export function readiness(checks: ReadinessChecks, limitMs = TIMEOUT_MS): RequestHandler {
  let latest: { startedAt: number; missing: Promise<string[]> } | undefined;
  return async (_req, res) => {
    const now = performance.now();
    if (latest === undefined || now - latest.startedAt >= SHARED_MS) {
      latest = { startedAt: now, missing: failedChecks(checks, limitMs) };
    }
    const missing = await latest.missing;
    res
      .status(missing.length === 0 ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ status: missing.length === 0 ? 'ready' : 'unavailable', missing });
  };
}

/** The names of the checks that reject or exceed the time limit. Never rejects. */
async function failedChecks(checks: ReadinessChecks, limitMs: number): Promise<string[]> {
  const results = await Promise.allSettled(
    Object.values(checks).map((check) => pTimeout(check(), { milliseconds: limitMs })),
  );
  return Object.keys(checks).filter((_, index) => results[index]?.status === 'rejected');
}
