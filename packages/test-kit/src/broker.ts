import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** A RabbitMQ, or a virtual host of one, as the services use it. */
export type Broker = {
  /** Address for the administrator. */
  url: string;
  /** Addresses for the users of the services, which have the same permissions as in docker-compose.yml. */
  serviceUrls: { controlPlane: string; engine: string };
  /** Messages that a consumer has received and not settled, by queue. */
  unsettledMessages(): Promise<Record<string, number>>;
  /** Removes it with everything in it. */
  remove(): Promise<void>;
};

/** The virtual host that every broker has. */
export const ROOT_VIRTUAL_HOST = '/';

/** The users' passwords. */
const PASSWORDS = {
  RABBITMQ_PASSWORD: 'administrator',
  RABBITMQ_CONTROL_PLANE_PASSWORD: 'declares',
  RABBITMQ_ENGINE_PASSWORD: 'transcodes',
};

/** Prints the broker's users and permissions, as in docker-compose.yml. */
const DEFINITIONS = join(import.meta.dirname, '../../../infra/rabbitmq/definitions.sh');

type Definitions = Record<'vhosts' | 'users' | 'permissions' | 'topic_permissions', object[]>;

/** The users and permissions of docker-compose.yml for a virtual host. */
export function definitionsFor(virtualHost: string): Definitions {
  const definitions = JSON.parse(
    execFileSync('sh', [DEFINITIONS], { env: { PATH: process.env.PATH, ...PASSWORDS }, encoding: 'utf8' }),
  ) as Definitions;
  const inHost = (rights: object[]) => rights.map((right) => ({ ...right, vhost: virtualHost }));
  return {
    ...definitions,
    vhosts: [{ name: virtualHost }],
    permissions: inHost(definitions.permissions),
    topic_permissions: inHost(definitions.topic_permissions),
  };
}

/** The addresses of a virtual host. */
export function brokerUrls(port: number, virtualHost: string): Pick<Broker, 'url' | 'serviceUrls'> {
  const path = virtualHost === ROOT_VIRTUAL_HOST ? '' : `/${virtualHost}`;
  const urlFor = (user: string, password: string) => `amqp://${user}:${password}@127.0.0.1:${port}${path}`;
  return {
    url: urlFor('framelane', PASSWORDS.RABBITMQ_PASSWORD),
    serviceUrls: {
      controlPlane: urlFor('control-plane', PASSWORDS.RABBITMQ_CONTROL_PLANE_PASSWORD),
      engine: urlFor('engine', PASSWORDS.RABBITMQ_ENGINE_PASSWORD),
    },
  };
}

/** @param evaluate evaluates an Erlang expression on the broker */
export async function unsettledMessages(
  evaluate: (expression: string) => Promise<unknown>,
  virtualHost: string,
): Promise<Record<string, number>> {
  const counts = await evaluate(
    `[[Name, Count] || [{name, {resource, _, queue, Name}}, {messages_unacknowledged, Count}] <- ` +
      `rabbit_amqqueue:info_all(<<"${virtualHost}">>, [name, messages_unacknowledged])]`,
  );
  return Object.fromEntries(counts as [string, number][]);
}
