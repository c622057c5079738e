import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { announce } from '../../packages/faults/src/shared-servers.ts';
import { startEmbeddedPostgres } from '../../packages/single-node/src/postgres/embedded-postgres.ts';
import { startRabbitMq } from '../../packages/test-kit/src/rabbitmq-node.ts';

/**
 * Jest's globalSetup of the fault suite: starts a PostgreSQL and a RabbitMQ for the files that do not kill theirs. Each cluster
 * has a database and a virtual host of its own.
 */
export default async function startServers() {
  const directory = await mkdtemp(join(tmpdir(), 'framelane-faults-'));
  const [postgres, rabbitmq] = await Promise.all([
    startEmbeddedPostgres({ directory: join(directory, 'cluster'), password: 'faults', durable: false }),
    startRabbitMq(),
  ]);
  globalThis.faultServers = { directory, postgres, rabbitmq };
  announce({ postgresUrl: postgres.url('postgres'), rabbitmq: rabbitmq.address });
}
