import { createLogger, type Logger } from '@framelane/service-kit/logger';
import winston from 'winston';

/** A logger that keeps the last event of each name, and writes nothing. */
export function collectingLogger(): { logger: Logger; events: Map<string, Record<string, unknown>> } {
  const events = new Map<string, Record<string, unknown>>();
  const collect = winston.format((event) => {
    events.set(String(event.message), { ...event });
    return false;
  });
  return { logger: createLogger({ service: 'doctor', format: collect() }), events };
}
