import type { MessageType } from './messages.ts';

/** The only exchange, a topic exchange. The routing key of a message is its type. */
export const EXCHANGE = 'framelane';

export type QueueName = 'engine.commands' | 'control-plane.events';

/** Deliveries of one message before it goes to the dead-letter queue. */
export const DELIVERY_LIMIT = 5;

/** The message types of each queue. Every adapter asserts these queues when it connects. */
export const QUEUES: Readonly<Record<QueueName, readonly MessageType[]>> = {
  'engine.commands': ['transcode'],
  'control-plane.events': [
    'upload.progress',
    'upload.completed',
    'upload.aborted',
    'transcode.progress',
    'transcode.completed',
    'transcode.failed',
  ],
};

/** The queue for messages of this type. */
export function queueFor(type: MessageType): QueueName {
  return QUEUES['engine.commands'].includes(type) ? 'engine.commands' : 'control-plane.events';
}

/** The queue for messages that no consumer could handle. */
export function deadLetterQueue(queue: QueueName): string {
  return `${queue}.dead`;
}
