import { format } from 'node:util';
import type { Logger } from './logger.ts';

/** The methods of `console` that libraries use, and the level of what they print. */
const LEVELS = {
  trace: 'error',
  error: 'error',
  warn: 'warn',
  log: 'info',
  info: 'info',
  debug: 'debug',
} as const;

/**
 * Logs what libraries and Node would otherwise print as plain text: calls of `console` (`console.called`), warnings of Node
 * (`process.warning`), and the error that ends the process (`process.crashed`), which still ends it with exit code 1.
 */
export function logProcessOutput(logger: Logger): void {
  for (const [method, level] of Object.entries(LEVELS) as [keyof typeof LEVELS, string][]) {
    console[method] = (...args: unknown[]) => {
      logger.log(level, 'console.called', { method, detail: format(...args) });
    };
  }
  // The first listener is that of Node, which prints.
  process.removeAllListeners('warning');
  process.on('warning', (warning) => logger.warn('process.warning', { error: warning }));
  process.on('uncaughtException', (error, origin) => {
    logger.error('process.crashed', { origin, error });
    process.exit(1);
  });
}
