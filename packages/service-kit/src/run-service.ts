import { createLogger, type Logger, logProcessOutput } from './logger.ts';
import { SettingsError } from './settings.ts';
import { type StopPhase, stopInOrder, stopSignal } from './shutdown.ts';
import { startTracing } from './start-tracing.ts';
import { exitProcess } from './thread-pool.ts';
import type { Tracing } from './tracing.ts';

/** Starts a service. Every part that it starts puts its stop phase at the front of `toStop`. */
export type StartService = (context: {
  env: NodeJS.ProcessEnv;
  logger: Logger;
  toStop: StopPhase[];
  /** Undefined if no traces are exported. */
  tracing: Tracing | undefined;
  /** Aborted by the first stop signal. Then the start may reject with the reason of the abort. */
  signal: AbortSignal;
}) => Promise<void>;

/**
 * Runs a service as the program of this process: starts it, waits for SIGINT or SIGTERM, runs the stop phases and exits
 * with 0. When the start fails, it logs the reason and exits with 1. When the thread pool is blocked, it kills the
 * process. Every line that it writes is JSON.
 */
export async function runService(service: string, start: StartService): Promise<never> {
  const signalled = stopSignal();
  const logger = createLogger({ service });
  logProcessOutput(logger);
  const toStop: StopPhase[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  signalled.then((name) => {
    logger.info('service.stopping', { signal: name });
    stopping.abort();
  });
  let code = 0;
  try {
    const { env } = process;
    const tracing = await startTracing(service, { env, logger, toStop });
    await start({ env, logger, toStop, tracing, signal });
    await signalled;
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) {
      logger.error(
        'service.not_started',
        error instanceof SettingsError ? { detail: error.message } : { error },
      );
      code = 1;
    }
  }
  await stopInOrder(toStop, logger);
  // Not left to Node: a phase that timed out may keep the event loop busy.
  return exitProcess(code);
}
