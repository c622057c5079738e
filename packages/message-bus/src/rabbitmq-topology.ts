import {
  DELIVERY_LIMIT,
  deadLetterQueue,
  EXCHANGE,
  QUEUES,
  type QueueName,
} from '@framelane/contracts/topology';
import type { Channel } from 'amqplib';

/** Quorum queues keep their messages on a majority of the brokers and count how often each was delivered. */
const QUORUM = { 'x-queue-type': 'quorum' };

/**
 * Declares the exchange, the queues with their bindings, and the queues of dead letters. Harmless when they are there;
 * fails when one is there with other properties, because then somebody else's messages would be lost.
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
        // A dead letter leaves its queue only once the other one has it; RabbitMQ asks for this overflow with it.
        'x-dead-letter-strategy': 'at-least-once',
        'x-overflow': 'reject-publish',
      },
    });
    for (const type of QUEUES[queue]) await channel.bindQueue(queue, EXCHANGE, type);
  }
}

/**
 * Checks that the exchange and the queues are there, and declares none: for a service whose broker user may not. Fails
 * until a service that declares them has done so.
 */
export async function checkTopology(channel: Channel): Promise<void> {
  await channel.checkExchange(EXCHANGE);
  for (const queue of Object.keys(QUEUES)) await channel.checkQueue(queue);
}
