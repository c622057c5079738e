import type { RequestHandler } from 'express';

/** What must work before a request can be served, by name; each rejects while it does not. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

/** A check that takes longer has failed: most probes wait for five seconds. */
const LIMIT_MS = 3_000;

/** The endpoint is public and some checks write: callers within this time share one run of the checks. */
const SHARED_MS = 1_000;

/** `GET /readyz`: 200 when everything works, else 503 naming what does not. It takes `limitMs` at the most. */
export function readiness(checks: ReadinessChecks, limitMs = LIMIT_MS): RequestHandler {
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

/** Names of the checks that reject or take too long. Never rejects. */
async function failedChecks(checks: ReadinessChecks, limitMs: number): Promise<string[]> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(reject, limitMs);
  const results = await Promise.allSettled(
    Object.values(checks).map((check) => Promise.race([check(), late])),
  );
  clearTimeout(timer);
  return Object.keys(checks).filter((_, index) => results[index]?.status === 'rejected');
}
