import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { TcpProxy } from './tcp-proxy.ts';
import { until } from './until.ts';

let target: Server;
beforeEach(async () => {
  target = createServer().listen(0, '127.0.0.1');
  await once(target, 'listening');
});
afterEach(() => {
  target.close();
});

/** Runs `fault` when the proxy has accepted a client and not yet connected to the target. Resolves once the client has lost its connection. */
async function loseDuringConnect(fault: (proxy: TcpProxy) => void): Promise<TcpProxy> {
  const { port } = target.address() as AddressInfo;
  const proxy = await TcpProxy.start(() => {
    fault(proxy);
    return [{ host: '127.0.0.1', port }];
  });
  const client = connect(proxy.port, '127.0.0.1').on('error', () => {});
  try {
    await until(() => client.closed, { seconds: 10 });
  } finally {
    client.destroy();
  }
  return proxy;
}

test('a cut resets a connection that is not yet connected to its target', async () => {
  const proxy = await loseDuringConnect((each) => each.cut());
  expect(proxy.bytesToClients).toBe(0);
  await proxy.stop();
});

test('a stop does not wait for a connection that is not yet connected to its target', async () => {
  let stopped: Promise<void> | undefined;
  await loseDuringConnect((each) => {
    stopped = each.stop();
  });
  await stopped;
});
