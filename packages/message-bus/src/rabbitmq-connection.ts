import type { Logger } from '@framelane/service-kit/logger';
import { type ChannelModel, connect, type RecoveringChannelModel } from 'amqplib';
import pTimeout from 'p-timeout';

/** Time limit for the TCP connection and the AMQP handshake. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Time limit to close a connection: a broker that is short of memory responds only when that ends. */
const CLOSE_TIMEOUT_MS = 5_000;

/** A connection without traffic for two heartbeats is lost. */
const HEARTBEAT_SECONDS = 10;

/** Delays between attempts to connect, in milliseconds. */
const RECONNECT = { initialDelay: 200, maxDelay: 2_000 };

type Options = {
  url: string;
  /** The purpose of the connection, for the log and the broker's list of connections. */
  purpose: string;
  logger: Logger;
  /** Prepares each new connection. When it throws, the connection is closed and the next one attempted. */
  setUp: (connection: ChannelModel) => Promise<void>;
  /** Called when a new connection is ready. */
  onConnected: (connection: ChannelModel) => void;
  /** Called when the connection is lost. It reconnects by itself. */
  onLost: () => void;
};

/** A connection to the broker. It connects at once and reconnects until it is closed. */
export class RabbitMqConnection {
  readonly #recovering: Promise<RecoveringChannelModel>;
  #current: ChannelModel | undefined;
  #blockedBecause: string | undefined;
  /** Why there is no connection. */
  #failure: Error | undefined;

  constructor(options: Options) {
    this.#recovering = connect(withHeartbeat(options.url), {
      timeout: CONNECT_TIMEOUT_MS,
      clientProperties: { connection_name: `framelane ${options.purpose}` },
      recovery: {
        ...RECONNECT,
        waitForConnect: false,
        setup: async (connection: ChannelModel) => {
          // Without a listener an error event would crash the process.
          connection.on('error', () => {});
          try {
            await unlessLost(connection, options.setUp(connection));
          } catch (error) {
            // Otherwise amqplib closes it, and never connects again if the connection is lost meanwhile.
            await untilClosed(connection, connection.close());
            throw error;
          }
        },
      },
    });
    this.#recovering.then((recovering) => this.#listen(recovering, options));
  }

  /** The current connection; undefined while disconnected. */
  get current(): ChannelModel | undefined {
    return this.#current;
  }

  /** Throws while the broker is unreachable, or accepts no messages because it is short of memory or disk space. */
  assertUsable(): void {
    if (this.#current === undefined) {
      throw new Error('There is no connection to the message broker', { cause: this.#failure });
    }
    if (this.#blockedBecause !== undefined) {
      throw new Error(`The message broker accepts no messages: ${this.#blockedBecause}`);
    }
  }

  /** Closes the current connection; the next one is prepared from scratch. */
  renew(): void {
    // A connection that is already closing rejects.
    this.#current?.close().catch(() => {});
  }

  async close(): Promise<void> {
    const recovering = await this.#recovering;
    const current = this.#current;
    this.#current = undefined;
    const closing = recovering.close();
    await (current === undefined ? closing : untilClosed(current, closing));
  }

  #listen(recovering: RecoveringChannelModel, { url, purpose, logger, onConnected, onLost }: Options): void {
    const facts = { purpose, host: new URL(url).host };
    let unreachable = false;
    recovering.on('connect', (connection: ChannelModel) => {
      unreachable = false;
      this.#current = connection;
      logger.info('broker.connected', facts);
      onConnected(connection);
    });
    recovering.on('connect-failed', (error: Error) => {
      // There is an attempt every few seconds; one warning is enough.
      logger.log(unreachable ? 'debug' : 'warn', 'broker.unreachable', { ...facts, error });
      unreachable = true;
      this.#failure = error;
    });
    recovering.on('disconnect', (error: Error) => {
      this.#current = undefined;
      this.#blockedBecause = undefined;
      this.#failure = error;
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
    // A "disconnect" event follows.
    recovering.on('error', (error: Error) => logger.debug('broker.error', { ...facts, error }));
  }
}

/**
 * Resolves when the connection is closed or lost, or after a time limit. Never rejects. amqplib's own promise, `closing`, does not settle
 * if the connection is lost before the broker has responded.
 */
async function untilClosed(connection: ChannelModel, closing: Promise<void>): Promise<void> {
  const closed = Promise.withResolvers<void>();
  connection.once('close', () => closed.resolve());
  const either = Promise.race([closing, closed.promise]);
  await pTimeout(either, { milliseconds: CLOSE_TIMEOUT_MS }).catch(() => {});
}

/** Rejects when the connection is closed or lost before `work` has settled. */
function unlessLost<T>(connection: ChannelModel, work: Promise<T>): Promise<T> {
  const lost = new AbortController();
  connection.once('close', (cause) => lost.abort(new Error('The connection was closed', { cause })));
  return pTimeout(work, { milliseconds: Number.POSITIVE_INFINITY, signal: lost.signal });
}

/** amqplib reads the heartbeat from the URL only. */
function withHeartbeat(address: string): string {
  const url = new URL(address);
  if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS));
  return url.href;
}
