import { format } from 'node:util';
import winston from 'winston';
import { redact } from './redact.ts';
import { terminalJson } from './terminal-text.ts';
import { loggedTrace } from './tracing.ts';

export type Logger = winston.Logger;

/** How a log line is written; a terminal has a format of its own. */
export type LogFormat = winston.Logform.Format;

/** Removes secrets from a log event. */
const withoutSecrets = winston.format((info) => Object.assign(info, redact({ ...info })));

const withTrace = winston.format((info) => Object.assign(info, loggedTrace()));

const MESSAGE = Symbol.for('message');

/** People read JSON logs in terminals, too. */
const safeForTerminals = winston.format((info) => ({
  ...info,
  [MESSAGE]: terminalJson(String(info[MESSAGE])),
}));

/** One JSON object per line. */
export const jsonLines: LogFormat = winston.format.combine(
  winston.format.timestamp(),
  winston.format.json(),
  safeForTerminals(),
);

/**
 * The logger of a service. The message is the dotted name of an event (`upload.completed`), the fields are its data.
 * Values that look like secrets are redacted.
 */
export function createLogger(options: { service: string; level?: string; format?: LogFormat }): Logger {
  return winston.createLogger({
    level: options.level ?? 'info',
    defaultMeta: { service: options.service },
    format: winston.format.combine(withoutSecrets(), withTrace(), options.format ?? jsonLines),
    transports: [new winston.transports.Console()],
  });
}

/** The methods of `console` that libraries use, and the log level of each. */
const CONSOLE_LEVELS = {
  trace: 'error',
  error: 'error',
  warn: 'warn',
  log: 'info',
  info: 'info',
  debug: 'debug',
} as const;

/**
 * Logs what libraries and Node would otherwise print as plain text: calls of `console` (`console.called`), warnings of
 * Node (`process.warning`) and an uncaught error (`process.crashed`), which still ends the process with exit code 1.
 */
export function logProcessOutput(logger: Logger): void {
  for (const [method, level] of Object.entries(CONSOLE_LEVELS) as [keyof typeof CONSOLE_LEVELS, string][]) {
    console[method] = (...args: unknown[]) => {
      logger.log(level, 'console.called', { method, detail: format(...args) });
    };
  }
  // Removes Node's own listener, which prints the warning.
  process.removeAllListeners('warning');
  process.on('warning', (warning) => logger.warn('process.warning', { error: warning }));
  process.on('uncaughtException', (error, origin) => {
    logger.error('process.crashed', { origin, error });
    process.exit(1);
  });
}
