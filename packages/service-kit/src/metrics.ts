import type { Request, RequestHandler } from 'express';
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

/** Any other method is counted as `other`. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Upper bounds of the histogram's buckets, in seconds. */
const DURATIONS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

/**
 * Counts requests by method, route and status, and problem responses by code. A route is a template such as
 * `/v1/videos/{id}`, so that ids and made-up paths never become labels. `routeOf` is called after the request; without a
 * route the label is `unmatched`. A request whose client disconnects before the response starts has the status `aborted`.
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
    help: 'Time from the head of a request to the end of its response, by method and route',
    labelNames: ['method', 'route'],
    buckets: DURATIONS,
    registers,
  });
  const problems = new Counter({
    name: 'framelane_http_problems_total',
    help: 'Problem responses by code',
    labelNames: ['code'],
    registers,
  });

  return (req, res, next) => {
    const startedAt = performance.now();
    // Read now: middlewares may change req.method.
    const method = METHODS.includes(req.method) ? req.method : 'other';
    res.once('close', () => {
      const route = routeOf(req) ?? 'unmatched';
      requests.inc({ method, route, status: res.headersSent ? res.statusCode : 'aborted' });
      durations.observe({ method, route }, (performance.now() - startedAt) / 1000);
      if (res.locals.problemCode !== undefined) problems.inc({ code: res.locals.problemCode });
    });
    next();
  };
}

let ofThisProcess: Registry | undefined;

/** CPU, memory and event loop of this process: collected once, however many services run in it. */
function processMetrics(): Registry {
  if (ofThisProcess === undefined) {
    ofThisProcess = new Registry();
    collectDefaultMetrics({ register: ofThisProcess });
  }
  return ofThisProcess;
}

/**
 * `GET /metrics` in the text format of Prometheus: the metrics of one service and those of its process. `refresh` runs
 * first, to update gauges that have to be queried. It must not reject.
 */
export function metricsEndpoint(
  registry: Registry,
  refresh: () => Promise<void> = async () => {},
): RequestHandler {
  return async (_req, res) => {
    await refresh();
    const texts = await Promise.all([registry.metrics(), processMetrics().metrics()]);
    res.set('Cache-Control', 'no-store').set('Content-Type', registry.contentType).end(texts.join('\n'));
  };
}
