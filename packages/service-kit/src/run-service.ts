import { createLogger, type Logger } from './logger.ts';
import { logProcessOutput } from './process-output.ts';
import { SettingsError } from './settings.ts';
import { type StopPhase, stopInOrder, stopSignal } from './shutdown.ts';
import { exitProcess } from './thread-pool.ts';

/** What starts puts the way to stop it first in `toStop`. */
export type StartService = (context: {
  env: NodeJS.ProcessEnv;
  logger: Logger;
  toStop: StopPhase[];
}) => Promise<void>;

/**
 * Runs a service as the program of this process: starts it, waits for SIGINT or SIGTERM, stops what was started in the
 * reverse order and exits with 0, or kills itself when its threads are blocked. When the start fails, the reason goes to the
 * log and the exit code is 1. Every line it writes is JSON.
 */
export async function runService(service: string, start: StartService): Promise<never> {
  const signalled = stopSignal();
  const logger = createLogger({ service });
  logProcessOutput(logger);
  const toStop: StopPhase[] = [];
  let code = 0;
  try {
    await start({ env: process.env, logger, toStop });
    const signal = await signalled;
    logger.info('service.stopping', { signal });
  } catch (error) {
    logger.error(
      'service.not_started',
      error instanceof SettingsError ? { detail: error.message } : { error },
    );
    code = 1;
  }
  await stopInOrder(toStop, logger);
  // Also when something that would not stop in time keeps the process busy.
  return exitProcess(code);
}
