import type { Request, RequestHandler } from 'express';
import { Counter, Histogram, type Registry } from 'prom-client';

/** Any other method is counted as `other`. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Upper bounds in seconds. */
const DURATIONS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

/**
 * Counts every request that passes through, by method, status and route, and every problem that was answered by its
 * code. A route is a template such as `/v1/videos/{id}`, so that no id and no invention of a client becomes a label;
 * `routeOf` names it once the request is over, and what has none is `unmatched`. A request that its client gave up before
 * an answer began has the status `aborted`.
 */
export function countRequests(
  registry: Registry,
  routeOf: (req: Request) => string | undefined,
): RequestHandler {
  const registers = [registry];
  const requests = new Counter({
    name: 'framelane_http_requests_total',
    help: 'HTTP requests by method, route and status',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'framelane_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer, by method and route',
    labelNames: ['method', 'route'],
    buckets: DURATIONS,
    registers,
  });
  const problems = new Counter({
    name: 'framelane_http_problems_total',
    help: 'Requests answered with a problem, by its code',
    labelNames: ['code'],
    registers,
  });

  return (req, res, next) => {
    const begun = performance.now();
    // On its way a request may be taken for one of another method.
    const method = METHODS.includes(req.method) ? req.method : 'other';
    res.once('close', () => {
      const route = routeOf(req) ?? 'unmatched';
      requests.inc({ method, route, status: res.headersSent ? res.statusCode : 'aborted' });
      durations.observe({ method, route }, (performance.now() - begun) / 1000);
      if (res.locals.problemCode !== undefined) problems.inc({ code: res.locals.problemCode });
    });
    next();
  };
}
