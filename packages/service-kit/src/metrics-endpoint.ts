import type { RequestHandler } from 'express';
import { collectDefaultMetrics, Registry } from 'prom-client';

let ofThisProcess: Registry | undefined;

/** CPU, memory and event loop of this process: watched once, however many services run in it. */
function processMetrics(): Registry {
  if (ofThisProcess === undefined) {
    ofThisProcess = new Registry();
    collectDefaultMetrics({ register: ofThisProcess });
  }
  return ofThisProcess;
}

/**
 * `GET /metrics` in the text format of Prometheus: the metrics of one service and those of its process. `refresh` is
 * called first, for what is only known by looking; it must not reject.
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
