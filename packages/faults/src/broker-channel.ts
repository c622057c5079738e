import type { CommandType } from '@framelane/contracts/messages';
import { EXCHANGE, queueFor } from '@framelane/contracts/topology';
import { type ConfirmChannel, connect } from 'amqplib';
import type { Cluster } from './cluster.ts';

/** Runs `work` with a channel of its own. Resolves when the broker has confirmed all that was published. */
export async function withChannel(
  { rabbitmq }: Pick<Cluster, 'rabbitmq'>,
  work: (channel: ConfirmChannel) => unknown,
): Promise<void> {
  const connection = await connect(rabbitmq.url);
  const channel = await connection.createConfirmChannel();
  await work(channel);
  await channel.waitForConfirms();
  await connection.close();
}

/** Makes the broker accept and lose commands of a type, or ends that. */
export function loseCommands(
  cluster: Pick<Cluster, 'rabbitmq'>,
  type: CommandType,
  isLost: boolean,
): Promise<void> {
  return withChannel(cluster, (channel) =>
    isLost
      ? channel.unbindQueue(queueFor(type), EXCHANGE, type)
      : channel.bindQueue(queueFor(type), EXCHANGE, type),
  );
}
