import { isIPv6 } from 'node:net';
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
  const response = await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS) });
  if (response.ok) return passed('Service', 'running and ready');
  const { missing = [] } = (await response.json()) as { missing?: string[] };
  return failed('Service', `running, but not ready: ${missing.join(', ')} unavailable`, 'Its log says why.');
}
