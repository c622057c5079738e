import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { json } from 'node:stream/consumers';
import { assertPortFree } from '@framelane/service-kit/http-server';
import type { SingleNodeSettings } from '@framelane/single-node/settings';
import { type Finding, failed, passed } from './finding.ts';

const LIMIT_MS = 5_000;

/** Whether the ports are free, or the node that runs on the data is ready. Rejects if a port is taken by another program. */
export async function checkListeners(settings: SingleNodeSettings, isRunning: boolean): Promise<Finding> {
  const { host, port, enginePort } = settings;
  // Not localhost, which a small container may not know.
  if (isRunning) return checkReadiness(`http://${isIPv6(host) ? `[${host}]` : host}:${port}/readyz`);
  await assertPortFree({ host, port, variable: 'PORT' });
  await assertPortFree({ host, port: enginePort, variable: 'ENGINE_PORT' });
  return passed('Ports', `${port} and ${enginePort} are free`);
}

async function checkReadiness(url: string): Promise<Finding> {
  // An agent of its own ignores the proxy of the environment, unlike `fetch`.
  const request = get(url, { agent: new Agent(), signal: AbortSignal.timeout(LIMIT_MS) });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { missing = [] } = (await json(response)) as { missing?: string[] };
  return response.statusCode === 200
    ? passed('Service', 'running and ready')
    : failed('Service', `running, but not ready: ${missing.join(', ')} unavailable`, 'Its log says why.');
}
