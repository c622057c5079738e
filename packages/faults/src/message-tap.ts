import { type Message, parseMessage } from '@framelane/contracts/messages';
import { EXCHANGE } from '@framelane/contracts/topology';
import { connect } from 'amqplib';

const QUEUE = 'faults.tap';

/** Gets a copy of every message between the services. */
export class MessageTap {
  /** The bodies, in the order in which they came. */
  readonly bodies: string[] = [];
  readonly #url: string;

  /** Hears nothing before the first `drain`. */
  constructor(url: string) {
    this.#url = url;
  }

  /** All that were about a video so far. */
  async messagesOn(videoId: string): Promise<Message[]> {
    await this.drain();
    return this.bodies.filter((body) => body.includes(videoId)).map((body) => parseMessage(JSON.parse(body)));
  }

  /** Takes what came since the last time. A broker that has forgotten the queue gets it anew. */
  async drain(): Promise<void> {
    const connection = await connect(this.#url);
    try {
      const channel = await connection.createChannel();
      await channel.assertQueue(QUEUE, { durable: true });
      await channel.bindQueue(QUEUE, EXCHANGE, '#');
      for (;;) {
        const message = await channel.get(QUEUE, { noAck: true });
        if (message === false) return;
        this.bodies.push(message.content.toString('utf8'));
      }
    } finally {
      await connection.close();
    }
  }
}
