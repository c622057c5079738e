import { RabbitMqBus } from '@framelane/message-bus/rabbitmq-bus';
import { createLogger } from '@framelane/service-kit/logger';
import { untilAvailable } from '@framelane/service-kit/until-available';
import { type Finding, passed } from './finding.ts';

const LIMIT_MS = 8_000;

/** Connects to RabbitMQ. Rejects if it accepts no messages. */
export async function checkQueue(url: string): Promise<Finding[]> {
  const logger = createLogger({ service: 'doctor', level: 'silent' });
  const bus = new RabbitMqBus({ url, logger });
  let last: unknown;
  const attempt = () =>
    bus.check().catch((error: unknown) => {
      last = error;
      throw error;
    });
  try {
    // It takes a moment to connect.
    await untilAvailable(attempt, { setting: 'AMQP_URL', logger, signal: AbortSignal.timeout(LIMIT_MS) });
    return [passed('Queue', 'RabbitMQ accepts messages')];
  } catch (error) {
    throw last ?? error;
  } finally {
    await bus.close();
  }
}
