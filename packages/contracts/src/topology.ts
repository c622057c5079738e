import type { MessageType } from './messages.ts';

/** The only exchange, a topic exchange. The routing key of a message is its type. */
export const EXCHANGE = 'framelane';

/** The tasks of planned videos, optional tasks, derivations, and clips have queues of their own, so that no new video waits behind them. */
export type QueueName =
  | 'engine.commands'
  | 'engine.tasks'
  | 'engine.background'
  | 'engine.derivations'
  | 'engine.pictures'
  | 'engine.clips'
  | 'engine.transcriptions'
  | 'control-plane.events';

/** Deliveries of one message before it goes to the dead-letter queue. */
export const DELIVERY_LIMIT = 5;

/** The message types of each queue. Every adapter asserts these queues when it connects. */
export const QUEUES: Readonly<Record<QueueName, readonly MessageType[]>> = {
  'engine.commands': ['plan'],
  'engine.tasks': ['task'],
  'engine.background': ['background'],
  'engine.derivations': ['derive'],
  'engine.pictures': ['picture'],
  'engine.clips': ['clip'],
  'engine.transcriptions': ['transcribe'],
  'control-plane.events': [
    'upload.progress',
    'upload.completed',
    'upload.aborted',
    'task.progress',
    'task.completed',
    'task.failed',
  ],
};

/** The queue for messages of this type. */
export function queueFor(type: MessageType): QueueName {
  const names = Object.keys(QUEUES) as QueueName[];
  const queue = names.find((name) => QUEUES[name].includes(type));
  if (queue === undefined) throw new Error(`No queue takes messages of the type ${type}`);
  return queue;
}

/** The queue for messages that no consumer could handle. */
export function deadLetterQueue(queue: QueueName): string {
  return `${queue}.dead`;
}
