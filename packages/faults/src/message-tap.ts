import { type Message, parseMessage } from '@framelane/contracts/messages';
import { EXCHANGE } from '@framelane/contracts/topology';
import { connect } from 'amqplib';

const QUEUE = 'faults.tap';

/** Receives a copy of every message between the services. */
export class MessageTap {
  /** Message bodies in the order of arrival. */
  readonly bodies: string[] = [];
  readonly #url: string;

  /** Receives messages from the first `drain` on. */
  constructor(url: string) {
    this.#url = url;
  }

  /** All messages about a video so far. */
  async messagesOn(videoId: string): Promise<Message[]> {
    await this.drain();
    return this.bodies.filter((body) => body.includes(videoId)).map((body) => parseMessage(JSON.parse(body)));
  }

  /** Reads the messages since the last call. Declares the queue again if the broker has lost it. */
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
