import { randomUUID } from 'node:crypto';
import { type Broker, brokerUrls, definitionsFor, unsettledMessages } from './broker.ts';
import { ErlangShell } from './erlang-shell.ts';
import type { NodeAddress } from './rabbitmq-node.ts';

/** Creates a virtual host on a broker that several test files share. It is like a broker of its own, except that alarms apply to all. */
export async function createVirtualHost({ port, env }: NodeAddress): Promise<Broker> {
  const name = `test-${randomUUID()}`;
  const shell = new ErlangShell(env);
  const evaluate = (expression: string) => shell.evaluate(expression);
  const { users: _, ...definitions } = definitionsFor(name);
  const encoded = Buffer.from(JSON.stringify(definitions)).toString('base64');
  try {
    await evaluate(`ok = rabbit_definitions:import_raw(base64:decode("${encoded}")), true`);
  } catch (error) {
    await shell.stop();
    throw error;
  }
  return {
    ...brokerUrls(port, name),
    unsettledMessages: () => unsettledMessages(evaluate, name),
    remove: async () => {
      try {
        await evaluate(`ok = rabbit_vhost:delete(<<"${name}">>, <<"tests">>), true`);
      } finally {
        await shell.stop();
      }
    },
  };
}
