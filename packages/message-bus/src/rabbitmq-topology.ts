import {
  DELIVERY_LIMIT,
  deadLetterQueue,
  EXCHANGE,
  QUEUES,
  type QueueName,
} from '@framelane/contracts/topology';
import type { Channel } from 'amqplib';

/** Quorum queues replicate their messages to a majority of the brokers and count deliveries. */
const QUORUM = { 'x-queue-type': 'quorum' };

/**
 * Declares the exchange, the queues with their bindings, and the dead-letter queues. Idempotent. Fails when one of them
 * exists with other properties.
 */
export async function declareTopology(channel: Channel): Promise<void> {
  await channel.assertExchange(EXCHANGE, 'topic', { durable: true });
  for (const queue of Object.keys(QUEUES) as QueueName[]) {
    const dead = deadLetterQueue(queue);
    await channel.assertQueue(dead, { durable: true, arguments: QUORUM });
    await channel.assertQueue(queue, {
      durable: true,
      arguments: {
        ...QUORUM,
        'x-delivery-limit': DELIVERY_LIMIT,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': dead,
        // A dead letter leaves its queue only once the dead-letter queue has confirmed it. This requires
        // `reject-publish`.
        'x-dead-letter-strategy': 'at-least-once',
        'x-overflow': 'reject-publish',
      },
    });
    for (const type of QUEUES[queue]) await channel.bindQueue(queue, EXCHANGE, type);
  }
}

/**
 * Checks that the exchange and the queues exist: for services whose broker user may not declare them. Fails until another
 * service has declared them.
 */
export async function checkTopology(channel: Channel): Promise<void> {
  await channel.checkExchange(EXCHANGE);
  for (const queue of Object.keys(QUEUES)) await channel.checkQueue(queue);
}
