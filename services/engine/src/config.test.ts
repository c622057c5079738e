import { describe, expect, test } from '@jest/globals';
import { readEngineConfig } from './config.ts';

const REQUIRED = {
  CONTROL_PLANE_INTERNAL_URL: 'http://control-plane:8081/',
  SERVICE_SECRET: 's'.repeat(32),
};

describe('the configuration of an engine', () => {
  test('holds no master secret, even when the environment has one', () => {
    const secret = Buffer.alloc(32, 7);
    const config = readEngineConfig({ ...REQUIRED, CONTENT_KEY_SECRET: secret.toString('base64') });
    expect(config.secrets).toEqual({ service: REQUIRED.SERVICE_SECRET });
  });

  test('needs only the settings without a default', () => {
    const config = readEngineConfig(REQUIRED);
    expect(config).toMatchObject({
      roles: ['upload', 'transcode'],
      http: { host: '127.0.0.1', port: 8090 },
      controlPlaneUrl: 'http://control-plane:8081',
      uploads: { idleSeconds: 60, drainSeconds: 10 },
      transcode: { preset: 'veryfast', sandbox: 'auto' },
    });
    expect(config.transcode.slots).toBeGreaterThanOrEqual(1);
  });

  test('the error names every missing or invalid setting, and no value', () => {
    const read = () =>
      readEngineConfig({ SERVICE_SECRET: 'too short', ENGINE_PRESET: 'warp', ENGINE_SLOTS: '0' });
    for (const name of ['CONTROL_PLANE_INTERNAL_URL', 'SERVICE_SECRET', 'ENGINE_PRESET', 'ENGINE_SLOTS']) {
      expect(read).toThrow(name);
    }
    expect(read).not.toThrow(/too short|warp/);
  });

  test('reads the maximum bit rates in kilobits per second', () => {
    const read = (ENGINE_MAX_RATES: string) => readEngineConfig({ ...REQUIRED, ENGINE_MAX_RATES });
    const rates = { '360p': 500_000, '480p': 1_000_000, '720p': 2_000_000, '1080p': 4_000_000 };
    expect(read('500,1000,2000,4000').transcode.maxRates).toEqual(rates);
    for (const wrong of ['500', '500,400,2000,4000', '500,1000,2000,4000,8000', 'a,b,c,d', '1,2,3,4']) {
      expect(() => read(wrong)).toThrow('ENGINE_MAX_RATES: must be 4 increasing numbers');
    }
  });

  test('reads one role or both, and refuses anything else', () => {
    const read = (ENGINE_ROLES: string) => readEngineConfig({ ...REQUIRED, ENGINE_ROLES }).roles;
    expect(read('upload')).toEqual(['upload']);
    expect(read('transcode, upload')).toEqual(['upload', 'transcode']);
    for (const wrong of ['', ',', 'upload,', 'uploads', 'both']) {
      expect(() => read(wrong)).toThrow('ENGINE_ROLES: must be upload or transcode, or both with a comma');
    }
  });

  test('gives each engine on one machine its own work folder', () => {
    const folder = (port: string) =>
      readEngineConfig({ ...REQUIRED, ENGINE_INTERNAL_PORT: port }).transcode.workDir;
    expect(folder('8091')).not.toBe(folder('8092'));
  });
});
