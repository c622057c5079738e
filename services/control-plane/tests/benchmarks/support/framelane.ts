import { randomBytes } from 'node:crypto';
import { Contestant } from './contestant.ts';

export const WORKSPACE = 'ws_01kannnnnnfz0rzzzzzzzzzzzz';
export const API_KEY = 'svc_live_OfTheBenchmark0OfTheBenchmark';

/** Starts a control plane with a first workspace and key. `env` adds settings, such as those of the object store. */
export function startFramelane(databaseUrl: string, env: Record<string, string>): Promise<Contestant> {
  return Contestant.start('framelane-server.ts', {
    PORT: '0',
    INTERNAL_PORT: '0',
    PUBLIC_URL: 'http://127.0.0.1',
    ENGINE_PUBLIC_URL: 'http://127.0.0.1',
    DATABASE_URL: databaseUrl,
    SERVICE_SECRET: randomBytes(32).toString('base64'),
    CONTENT_KEY_SECRET: randomBytes(32).toString('base64'),
    BOOTSTRAP_WORKSPACE_ID: WORKSPACE,
    BOOTSTRAP_API_KEY: API_KEY,
    // The limit is active, but never reached.
    RATE_LIMIT_REQUESTS_PER_MINUTE: '1000000000',
    ...env,
  });
}
