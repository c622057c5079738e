import { type Message, parseMessage } from '@framelane/contracts/messages';
import {
  DELIVERY_LIMIT,
  deadLetterQueue,
  QUEUES,
  type QueueName,
  queueFor,
} from '@framelane/contracts/topology';
import {
  type Consumer,
  type MessageBus,
  type MessageHandler,
  type PublishOptions,
  UnconfirmedMessageError,
  UnprocessableMessageError,
} from '@framelane/message-bus/message-bus';
import { type SimulatedProcess, whileAlive } from './simulated-process.ts';
import { latency, type World } from './world.ts';

/** How long a publisher waits for a confirm by default. */
const CONFIRM_MS = 20_000;

type Waiting = { body: string; deliveries: number; traceparent: string | undefined };

type Subscription = {
  process: SimulatedProcess;
  handler: MessageHandler;
  prefetch: number;
  /** Deliveries that are not settled, with their messages. */
  unsettled: Map<object, Waiting>;
  handling: Set<Promise<void>>;
};

/** A broker: queues of messages that survive the processes. It delivers in any order, and more than once. */
export class SimulatedBroker {
  readonly #world: World;
  readonly #waiting = new Map<QueueName, Waiting[]>();
  readonly #subscriptions = new Map<QueueName, Set<Subscription>>();
  /** Messages that will be delivered again after a pause. */
  readonly #pausing = new Map<QueueName, number>();
  readonly #deadLetters = new Map<QueueName, number>();

  constructor(world: World) {
    this.#world = world;
    for (const queue of Object.keys(QUEUES) as QueueName[]) {
      this.#waiting.set(queue, []);
      this.#subscriptions.set(queue, new Set());
    }
  }

  /** The bus of one process. */
  busOf(process: SimulatedProcess): MessageBus {
    return {
      kind: 'rabbitmq',
      publish: (message, options) => whileAlive(this.#publish(process, message, options), process),
      consume: (queue, options, handler) =>
        whileAlive(this.#consume(process, queue, options, handler), process),
      countWaiting: async (queue) => this.#queue(queue).length,
      countDeadLetters: async (queue) => this.#dead(queue),
      check: () => whileAlive(latency(this.#world), process),
      close: async () => {},
    };
  }

  /** The number of messages that are waiting or being handled, by queue, including dead-letter queues. */
  held(): Record<string, number> {
    const counts = [...this.#waiting].flatMap(([queue, waiting]) => {
      const unsettled = [...this.#subscribers(queue)].reduce((sum, each) => sum + each.unsettled.size, 0);
      return [
        [queue, waiting.length + unsettled + (this.#pausing.get(queue) ?? 0)],
        [deadLetterQueue(queue), this.#dead(queue)],
      ];
    });
    return Object.fromEntries(counts);
  }

  #dead(queue: QueueName): number {
    return this.#deadLetters.get(queue) ?? 0;
  }

  async #publish(
    process: SimulatedProcess,
    message: Message,
    { limitMs = CONFIRM_MS, traceparent }: PublishOptions = {},
  ): Promise<void> {
    const { faults, history } = this.#world;
    const body = JSON.stringify(message);
    const { type } = parseMessage(JSON.parse(body));
    await latency(this.#world);
    if (faults.hits('lostMessage')) {
      history.say(process.name, `publishes ${describe(message)}, which is lost`);
      await latency(this.#world, limitMs);
      throw new UnconfirmedMessageError('The broker did not confirm the message');
    }
    history.say(process.name, `publishes ${describe(message)}`);
    this.#enqueue(queueFor(type), { body, deliveries: 0, traceparent });
    if (faults.hits('doubledMessage')) this.#enqueue(queueFor(type), { body, deliveries: 0, traceparent });
    if (faults.hits('lostConfirm')) {
      history.say(process.name, `gets no confirm of ${describe(message)}`);
      await latency(this.#world, limitMs);
      throw new UnconfirmedMessageError('The broker did not confirm the message');
    }
    await latency(this.#world);
  }

  async #consume(
    process: SimulatedProcess,
    queue: QueueName,
    { prefetch }: { prefetch: number },
    handler: MessageHandler,
  ): Promise<Consumer> {
    await latency(this.#world);
    const subscription: Subscription = {
      process,
      handler,
      prefetch,
      unsettled: new Map(),
      handling: new Set(),
    };
    this.#subscribers(queue).add(subscription);
    process.onKill(() => {
      this.#subscribers(queue).delete(subscription);
      this.#requeue(queue, subscription);
    });
    this.#dispatch(queue);
    return {
      stop: async () => {
        subscription.prefetch = 0;
        await Promise.all(subscription.handling);
        this.#subscribers(queue).delete(subscription);
      },
    };
  }

  #queue(queue: QueueName): Waiting[] {
    return this.#waiting.get(queue) as Waiting[];
  }

  #subscribers(queue: QueueName): Set<Subscription> {
    return this.#subscriptions.get(queue) as Set<Subscription>;
  }

  /** Messages that wait are delivered in any order: those of a broker with several queues and redeliveries are. */
  #enqueue(queue: QueueName, message: Waiting): void {
    const waiting = this.#queue(queue);
    waiting.splice(this.#world.random.below(waiting.length + 1), 0, message);
    this.#dispatch(queue);
  }

  /** A channel has closed: its messages go to other consumers, while its handlers still run. */
  #requeue(queue: QueueName, subscription: Subscription): void {
    const unsettled = [...subscription.unsettled.values()];
    subscription.unsettled.clear();
    for (const message of unsettled) this.#enqueue(queue, message);
  }

  #dispatch(queue: QueueName): void {
    for (;;) {
      const free = [...this.#subscribers(queue)].filter(
        ({ unsettled, prefetch }) => unsettled.size < prefetch,
      );
      const waiting = this.#queue(queue);
      if (free.length === 0 || waiting.length === 0) return;
      const subscription = this.#world.random.pick(free);
      const message = waiting.shift() as Waiting;
      const tag = {};
      message.deliveries += 1;
      subscription.unsettled.set(tag, message);
      const handling = subscription.process.run(() => this.#deliver(queue, subscription, tag, message));
      subscription.handling.add(handling);
      void handling.finally(() => subscription.handling.delete(handling));
    }
  }

  async #deliver(queue: QueueName, subscription: Subscription, tag: object, waiting: Waiting): Promise<void> {
    const { history, faults, time, random } = this.#world;
    const { process, handler } = subscription;
    const delivery = { redelivered: waiting.deliveries > 1, traceparent: waiting.traceparent };
    await latency(this.#world);
    const message = parseMessage(JSON.parse(waiting.body));
    history.say(process.name, `receives ${describe(message)}${delivery.redelivered ? ' again' : ''}`);
    if (faults.hits('closedChannel')) {
      void time.sleep(random.below(60_000)).then(() => {
        if (!subscription.unsettled.has(tag)) return;
        history.say('broker', `closes a channel of ${process.name}`);
        this.#requeue(queue, subscription);
      });
    }
    try {
      await handler(message, delivery);
    } catch (error) {
      await latency(this.#world);
      if (!subscription.unsettled.delete(tag)) return;
      history.say(process.name, `rejects ${describe(message)}: ${(error as Error).message}`);
      const isDead = error instanceof UnprocessableMessageError || waiting.deliveries >= DELIVERY_LIMIT;
      if (isDead) this.#deadLetters.set(queue, this.#dead(queue) + 1);
      else {
        this.#pausing.set(queue, (this.#pausing.get(queue) ?? 0) + 1);
        const pauseMs = 500 * 2 ** (waiting.deliveries - 1);
        void time.sleep(pauseMs).then(() => {
          this.#pausing.set(queue, (this.#pausing.get(queue) ?? 0) - 1);
          this.#enqueue(queue, waiting);
        });
      }
      this.#dispatch(queue);
      return;
    }
    await latency(this.#world);
    if (subscription.unsettled.delete(tag)) this.#dispatch(queue);
  }
}

function describe({ type, data }: Message): string {
  const facts = [
    data.videoId,
    'attempt' in data ? `a${data.attempt}.${data.task}.${data.try}` : undefined,
    'fraction' in data ? data.fraction.toFixed(2) : undefined,
    'code' in data ? data.code : undefined,
  ];
  return [type, ...facts.filter((fact) => fact !== undefined)].join(' ');
}
