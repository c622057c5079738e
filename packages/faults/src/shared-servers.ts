import type { Broker } from '@framelane/test-kit/broker';
import type { NodeAddress } from '@framelane/test-kit/rabbitmq-node';
import { createVirtualHost } from '@framelane/test-kit/virtual-host';
import type { FaultDatabase } from './fault-database.ts';
import { SharedDatabase } from './shared-database.ts';

/** The servers that the set-up of the fault suite starts for all files. */
export type SharedServers = { postgresUrl: string; rabbitmq: NodeAddress };

const VARIABLE = 'FAULTS_SHARED_SERVERS';

/** Makes the servers known to the test files. */
export function announce(servers: SharedServers): void {
  process.env[VARIABLE] = JSON.stringify(servers);
}

function sharedServers(): SharedServers | undefined {
  const servers = process.env[VARIABLE];
  return servers === undefined ? undefined : JSON.parse(servers);
}

/** A database on the shared server; undefined outside the suite. */
export async function sharedDatabase(): Promise<FaultDatabase | undefined> {
  const servers = sharedServers();
  return servers && SharedDatabase.create(servers.postgresUrl);
}

/** A virtual host of the shared broker; undefined outside the suite. */
export async function sharedBroker(): Promise<Broker | undefined> {
  const servers = sharedServers();
  return servers && createVirtualHost(servers.rabbitmq);
}
