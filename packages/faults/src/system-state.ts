import type { Schemas } from '@framelane/client';
import type { Cluster } from './cluster.ts';
import { signInLink } from './console.ts';

/** A response with the state of the installation. */
export type SystemState = { status: number; seconds: number; system: Schemas['System'] };

/** Signs an administrator in to the console. Resolves with a function that gets the state of the installation. */
export async function signInForSystem(cluster: Cluster): Promise<() => Promise<SystemState>> {
  const publicUrl = `http://127.0.0.1:${cluster.proxies.public.port}`;
  const code = new URL(await signInLink(cluster, '--administrator')).hash.replace('#code=', '');
  const signedIn = await fetch(`${publicUrl}/v1/console/sessions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: publicUrl },
    body: JSON.stringify({ code }),
  });
  if (!signedIn.ok) throw new Error(`Not signed in: ${await signedIn.text()}`);
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  return async () => {
    const startedAt = performance.now();
    const response = await fetch(`${publicUrl}/v1/console/system`, { headers: { cookie } });
    const system = (await response.json()) as Schemas['System'];
    return { status: response.status, seconds: (performance.now() - startedAt) / 1000, system };
  };
}
