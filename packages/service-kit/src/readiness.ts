import type { RequestHandler } from 'express';

/** What must work before a request can be served, by name; each rejects while it does not. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

/** What has not answered by then counts as away: whoever asks waits for five seconds, mostly. */
const LIMIT_MS = 3_000;

/** `GET /readyz`: 200 when everything works, else 503 naming what does not. It takes `limitMs` at the most. */
export function readiness(checks: ReadinessChecks, limitMs = LIMIT_MS): RequestHandler {
  return async (_req, res) => {
    const names = Object.keys(checks);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(reject, limitMs);
    const results = await Promise.allSettled(
      Object.values(checks).map((check) => Promise.race([check(), late])),
    );
    clearTimeout(timer);
    const missing = names.filter((_, index) => results[index]?.status === 'rejected');
    res
      .status(missing.length === 0 ? 200 : 503)
      .set('Cache-Control', 'no-store')
      .json({ status: missing.length === 0 ? 'ready' : 'unavailable', missing });
  };
}
