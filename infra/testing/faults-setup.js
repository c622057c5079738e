import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { announce } from '../../packages/faults/src/shared-servers.ts';
import { startEmbeddedPostgres } from '../../packages/single-node/src/postgres/embedded-postgres.ts';
import { startRabbitMq } from '../../packages/test-kit/src/rabbitmq-node.ts';
import stopServers from './faults-teardown.js';

/**
 * Jest's globalSetup of the fault suite: starts a PostgreSQL and a RabbitMQ for the test files that do not start their own. Each
 * `Cluster` of packages/faults gets a database and a virtual host there.
 */
export default async function startServers() {
  const directory = await mkdtemp(join(tmpdir(), 'framelane-faults-'));
  const servers = { directory };
  // Jest does not call globalTeardown if this fails.
  globalThis.faultServers = servers;
  try {
    servers.rabbitmq = await startRabbitMq();
    servers.postgres = await startEmbeddedPostgres({
      directory: join(directory, 'postgres'),
      password: 'faults',
      access: 'tests',
    });
  } catch (error) {
    await stopServers();
    throw error;
  }
  const { postgres, rabbitmq } = servers;
  announce({ postgresUrl: postgres.url('postgres'), rabbitmq: rabbitmq.address });
}
