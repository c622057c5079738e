import type { Channel, ChannelModel } from 'amqplib';

/** Opens a channel. When the broker closes it with an error, its requests reject and `close` is emitted, so `error` needs no handling. */
export async function openChannel(connection: ChannelModel): Promise<Channel> {
  const channel = await connection.createChannel();
  channel.on('error', () => {});
  return channel;
}

/**
 * Resolves when the channel is closed, also if the connection is lost meanwhile: then amqplib's `close()` never settles. Rejects if the
 * channel was closed before.
 */
export async function closeChannel(channel: Channel): Promise<void> {
  const closed = Promise.withResolvers<void>();
  channel.once('close', closed.resolve);
  await Promise.race([channel.close(), closed.promise]);
}
