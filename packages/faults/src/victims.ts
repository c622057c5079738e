import type { RabbitMqNode } from '@framelane/test-kit/rabbitmq-node';
import type { Random } from '@framelane/test-kit/random';
import type { Cluster } from './cluster.ts';
import type { PostgresServer } from './postgres-server.ts';
import type { ServiceProcess } from './service-process.ts';

/** A kind of process. `kill` kills one of them with SIGKILL and resolves when it is ready again. */
export type Victim = { name: string; kill: (random: Random) => Promise<void> };

/** Everything that can be killed in a cluster with its own PostgreSQL and RabbitMQ. */
export function victimsOf(
  { engines, controlPlanes }: Cluster,
  { postgres, rabbitmq }: { postgres: PostgresServer; rabbitmq: RabbitMqNode },
): Victim[] {
  const oneOf = (services: readonly ServiceProcess[]) => async (random: Random) => {
    const service = random.pick(services);
    await service.end('SIGKILL');
    await service.start();
  };
  return [
    { name: 'engine', kill: oneOf(engines) },
    { name: 'control plane', kill: oneOf(controlPlanes) },
    { name: 'RabbitMQ', kill: () => rabbitmq.kill().then(() => rabbitmq.start()) },
    { name: 'PostgreSQL', kill: () => postgres.kill().then(() => postgres.restart()) },
  ];
}
