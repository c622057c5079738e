import { type ControlPlaneConfig, readControlPlaneConfig } from '@framelane/control-plane/config';
import { ENGINE_ROLES, type EngineConfig, readEngineConfig } from '@framelane/engine/config';
import type { Secrets } from './secrets.ts';
import { INTERNAL_HOST, type SingleNodeSettings, servesOnlyThisMachine } from './settings.ts';

/** Where a node that serves only its own machine may send webhooks. */
const LOOPBACK = '127.0.0.0/8,::1/128';

/** No rate limit. */
const UNLIMITED = '0';

/** The configuration of the control plane of a node. Throws a SettingsError that names invalid settings. */
export function controlPlaneConfigOf(
  settings: SingleNodeSettings,
  env: NodeJS.ProcessEnv,
  secrets: Secrets,
  databaseUrl: string,
): ControlPlaneConfig {
  const isLocal = servesOnlyThisMachine(settings);
  return readControlPlaneConfig({
    ...env,
    HOST: settings.host,
    PORT: String(settings.port),
    INTERNAL_HOST,
    INTERNAL_PORT: String(settings.internalPort),
    PUBLIC_URL: settings.publicUrl,
    ENGINE_PUBLIC_URL: settings.enginePublicUrl,
    DATABASE_URL: databaseUrl,
    SERVICE_SECRET: secrets.serviceSecret,
    CONTENT_KEY_SECRET: secrets.contentKeySecret,
    CONTENT_KEY_SECRET_PREVIOUS: secrets.previousContentKeySecrets.join(','),
    RATE_LIMIT_REQUESTS_PER_MINUTE: env.RATE_LIMIT_REQUESTS_PER_MINUTE || UNLIMITED,
    RATE_LIMIT_FAILURES_PER_MINUTE: env.RATE_LIMIT_FAILURES_PER_MINUTE || (isLocal ? UNLIMITED : ''),
    WEBHOOK_ALLOW_CIDRS: env.WEBHOOK_ALLOW_CIDRS || (isLocal ? LOOPBACK : ''),
  });
}

/** The configuration of the engine of a node. `controlPlanePort` is that of the internal listener. Throws as above. */
export function engineConfigOf(
  settings: SingleNodeSettings,
  env: NodeJS.ProcessEnv,
  secrets: Pick<Secrets, 'serviceSecret'>,
  controlPlanePort: number,
): EngineConfig {
  return readEngineConfig({
    ...env,
    HOST: settings.host,
    SERVICE_SECRET: secrets.serviceSecret,
    ENGINE_ROLES: ENGINE_ROLES.join(','),
    ENGINE_PORT: String(settings.enginePort),
    ENGINE_INTERNAL_PORT: String(settings.engineInternalPort),
    CONTROL_PLANE_INTERNAL_URL: `http://${INTERNAL_HOST}:${controlPlanePort}`,
    PUBLIC_URL: settings.publicUrl,
    ENGINE_WORK_DIR: settings.dataDir.work,
  });
}
