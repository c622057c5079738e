import type { Message } from '@framelane/contracts/messages';
import { EXCHANGE, type QueueName, queueFor } from '@framelane/contracts/topology';
import {
  type Attributes,
  inEntrySpan,
  outsideTraces,
  type Tracing,
  withSpan,
} from '@framelane/service-kit/tracing';
import type { Consumer, MessageBus, MessageHandler, PublishOptions } from './message-bus.ts';

/** Messages that renew leases. There are hundreds of them in the trace of a long video, and none is worth a span. */
const UNTRACED: readonly Message['type'][] = ['upload.progress', 'task.progress'];

/** The bus as a service uses it: with spans if it exports traces. */
export function traced(bus: MessageBus, tracing: Tracing | undefined): MessageBus {
  return tracing === undefined ? bus : new TracedBus(bus, tracing);
}

/**
 * Adds spans to a bus. Messages carry the trace of their publisher, and the span of a handler is a child of the span of the publisher. A message
 * without a trace, such as one of an earlier version, begins one.
 */
class TracedBus implements MessageBus {
  readonly #bus: MessageBus;
  readonly #tracing: Tracing;

  constructor(bus: MessageBus, tracing: Tracing) {
    this.#bus = bus;
    this.#tracing = tracing;
  }

  get kind(): MessageBus['kind'] {
    return this.#bus.kind;
  }

  publish(message: Message, options: PublishOptions = {}): Promise<void> {
    if (UNTRACED.includes(message.type)) return this.#bus.publish(message, options);
    const destination = this.kind === 'rabbitmq' ? `${EXCHANGE}:${message.type}` : queueFor(message.type);
    const attributes = this.#attributes(message, destination, 'send');
    return withSpan(`send ${destination}`, { kind: 'producer', attributes }, (span) =>
      this.#bus.publish(message, { ...options, traceparent: span?.traceparent }),
    );
  }

  consume(queue: QueueName, options: { prefetch: number }, handler: MessageHandler): Promise<Consumer> {
    return this.#bus.consume(queue, options, (message, delivery) => {
      if (UNTRACED.includes(message.type)) return outsideTraces(() => handler(message, delivery));
      const destination = this.kind === 'rabbitmq' ? `${EXCHANGE}:${message.type}:${queue}` : queue;
      const attributes = {
        ...this.#attributes(message, destination, 'process'),
        'framelane.message.redelivered': delivery.redelivered,
      };
      return inEntrySpan(
        this.#tracing,
        `process ${destination}`,
        { kind: 'consumer', parent: delivery.traceparent, attributes },
        () => handler(message, delivery),
      );
    });
  }

  countWaiting(queue: QueueName): Promise<number> {
    return this.#bus.countWaiting(queue);
  }

  countDeadLetters(queue: QueueName): Promise<number> {
    return this.#bus.countDeadLetters(queue);
  }

  check(): Promise<void> {
    return this.#bus.check();
  }

  close(): Promise<void> {
    return this.#bus.close();
  }

  /** The destinations of RabbitMQ are named as the conventions for it say: an exchange, a routing key and, for a consumer, a queue. */
  #attributes({ id, type, data }: Message, destination: string, operation: 'send' | 'process'): Attributes {
    return {
      'messaging.system': this.kind,
      'messaging.operation.name': operation,
      'messaging.operation.type': operation,
      'messaging.destination.name': destination,
      'messaging.message.id': id,
      ...(this.kind === 'rabbitmq' && { 'messaging.rabbitmq.destination.routing_key': type }),
      'framelane.message.type': type,
      'framelane.video.id': data.videoId,
    };
  }
}
