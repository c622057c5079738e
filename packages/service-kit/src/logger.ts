import winston from 'winston';
import { redact } from './redact.ts';
import { terminalJson } from './terminal-text.ts';

export type Logger = winston.Logger;

/** How a log line is written; `LogFormat` of winston, so that a terminal can have its own. */
export type LogFormat = winston.Logform.Format;

/** Drops secrets from a log event before anything writes it. */
const withoutSecrets = winston.format((info) => Object.assign(info, redact({ ...info })));

const MESSAGE = Symbol.for('message');

/** People read JSON logs in a terminal, too. */
const safeForTerminals = winston.format((info) => ({
  ...info,
  [MESSAGE]: terminalJson(String(info[MESSAGE])),
}));

/** One JSON object a line, for machines. */
export const jsonLines: LogFormat = winston.format.combine(
  winston.format.timestamp(),
  winston.format.json(),
  safeForTerminals(),
);

/**
 * The logger of a service. The message is the name of an event in dotted form (`upload.completed`), the fields are
 * its facts; whatever looks like a secret is removed first.
 */
export function createLogger(options: { service: string; level?: string; format?: LogFormat }): Logger {
  return winston.createLogger({
    level: options.level ?? 'info',
    defaultMeta: { service: options.service },
    format: winston.format.combine(withoutSecrets(), options.format ?? jsonLines),
    transports: [new winston.transports.Console()],
  });
}
