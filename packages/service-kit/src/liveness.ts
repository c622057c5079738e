import type { RequestHandler } from 'express';
import { type ThreadPoolProbe, threadPool } from './thread-pool.ts';

/** Probes wait for five seconds (see infra/kubernetes). */
const LIMIT_MS = 3_000;

/**
 * `GET /healthz`: 200 while this process does its work, whatever is behind it does, and 503 when its threads are blocked,
 * which only a new process mends.
 */
export function liveness(pool: ThreadPoolProbe = threadPool): RequestHandler {
  return async (_req, res) => {
    const isAlive = await pool.responds(LIMIT_MS);
    res
      .status(isAlive ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ status: isAlive ? 'ok' : 'blocked' });
  };
}
