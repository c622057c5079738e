import type { Logger } from '@framelane/service-kit/logger';
import { type ChannelModel, connect, type RecoveringChannelModel } from 'amqplib';

/** How long a TCP connection and its handshake may take. */
const CONNECT_LIMIT_MS = 10_000;

/** A peer that sends nothing for two of these is gone. */
const HEARTBEAT_SECONDS = 10;

/** Waits between tries to connect again. */
const RECONNECT = { initialDelay: 200, maxDelay: 2_000 };

type Options = {
  url: string;
  /** What the connection is for; the log and the broker show it. */
  purpose: string;
  logger: Logger;
  /** Makes each new connection ready. When it throws, the connection is given up and the next one tried. */
  setUp: (connection: ChannelModel) => Promise<void>;
  /** A new connection is ready. */
  onConnected: (connection: ChannelModel) => void;
  /** It is gone; the next one is being tried for. */
  onLost: () => void;
};

/** A connection to the broker that comes back by itself until it is closed. It begins to connect at once. */
export class RabbitMqConnection {
  readonly #recovering: Promise<RecoveringChannelModel>;
  #current: ChannelModel | undefined;
  #blockedBecause: string | undefined;

  constructor(options: Options) {
    this.#recovering = connect(withHeartbeat(options.url), {
      timeout: CONNECT_LIMIT_MS,
      clientProperties: { connection_name: `framelane ${options.purpose}` },
      recovery: {
        ...RECONNECT,
        waitForConnect: false,
        setup: async (connection: ChannelModel) => {
          // Nobody else listens yet, and without a listener an error would end the process.
          connection.on('error', () => {});
          await options.setUp(connection);
        },
      },
    });
    this.#recovering.then((recovering) => this.#listen(recovering, options));
  }

  /** The connection as it is now; undefined while there is none. */
  get current(): ChannelModel | undefined {
    return this.#current;
  }

  /** Throws while the broker is away or, short of memory or disk, takes no messages. */
  assertUsable(): void {
    if (this.#current === undefined) throw new Error('There is no connection to the message broker');
    if (this.#blockedBecause !== undefined) {
      throw new Error(`The message broker takes no messages: ${this.#blockedBecause}`);
    }
  }

  /** Gives the present connection up; the next one is set up from scratch. */
  renew(): void {
    // One that is going down anyway refuses to be closed.
    this.#current?.close().catch(() => {});
  }

  async close(): Promise<void> {
    this.#current = undefined;
    await (await this.#recovering).close();
  }

  #listen(recovering: RecoveringChannelModel, { url, purpose, logger, onConnected, onLost }: Options): void {
    const facts = { purpose, host: new URL(url).host };
    let away = false;
    recovering.on('connect', (connection: ChannelModel) => {
      away = false;
      this.#current = connection;
      logger.info('broker.connected', facts);
      onConnected(connection);
    });
    recovering.on('connect-failed', (error: Error) => {
      // It is tried every few seconds; the log needs to know once.
      logger.log(away ? 'debug' : 'warn', 'broker.away', { ...facts, error });
      away = true;
    });
    recovering.on('disconnect', (error: Error) => {
      this.#current = undefined;
      this.#blockedBecause = undefined;
      logger.warn('broker.lost', { ...facts, error });
      onLost();
    });
    recovering.on('blocked', (reason: string) => {
      this.#blockedBecause = reason;
      logger.warn('broker.blocked', { ...facts, reason });
    });
    recovering.on('unblocked', () => {
      this.#blockedBecause = undefined;
      logger.info('broker.unblocked', facts);
    });
    // Whatever it is, "disconnect" follows.
    recovering.on('error', (error: Error) => logger.debug('broker.error', { ...facts, error }));
  }
}

/** amqplib reads the heartbeat from the address only. */
function withHeartbeat(address: string): string {
  const url = new URL(address);
  if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS));
  return url.href;
}
