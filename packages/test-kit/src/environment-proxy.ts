import { once } from 'node:events';
import { setGlobalProxyFromEnv } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';

/**
 * Runs `work` as in a process with `NODE_USE_ENV_PROXY` and a proxy in its environment, which closes all connections. Resolves with the
 * first line of each request that reached the proxy.
 */
export async function withEnvironmentProxy(work: () => Promise<unknown>): Promise<string[]> {
  const requests: string[] = [];
  const proxy = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => {
      requests.push(data.toString('latin1').split('\r\n', 1)[0] ?? '');
      socket.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const restore = setGlobalProxyFromEnv({ HTTP_PROXY: url, HTTPS_PROXY: url });
  try {
    await work();
  } finally {
    restore();
    proxy.close();
  }
  return requests;
}
