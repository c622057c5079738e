import { type ControlPlaneConfig, readControlPlaneConfig } from '../../src/config.ts';

/** Reads settings together with those that every installation needs. */
export function readSettings(settings: Record<string, string>): ControlPlaneConfig {
  return readControlPlaneConfig({
    PUBLIC_URL: 'http://framelane.test',
    ENGINE_PUBLIC_URL: 'http://engine.framelane.test',
    DATABASE_URL: 'postgresql://nowhere.test/none',
    SERVICE_SECRET: 'tests-only-service-secret-of-32-chars',
    CONTENT_KEY_SECRET: Buffer.alloc(32).toString('base64'),
    ...settings,
  });
}
