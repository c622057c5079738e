import { availableParallelism } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import { readEngineConfig } from './config.ts';

const REQUIRED = {
  CONTROL_PLANE_INTERNAL_URL: 'http://control-plane:8081/',
  PUBLIC_URL: 'https://video.example.com/',
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
      publicUrl: 'https://video.example.com',
      internalHttp: { host: '127.0.0.1', port: 8091 },
      trustedProxies: [],
      uploads: { idleSeconds: 60, drainSeconds: 10 },
      imports: { maxConcurrent: 8, allowedRanges: [] },
      transcode: { preset: 'veryfast', sandbox: 'auto', surround: false, iFrames: true },
    });
    const { slots, threads } = config.transcode;
    expect(slots).toBe(Math.max(1, Math.floor(availableParallelism() / 4)));
    expect(threads * slots).toBeGreaterThanOrEqual(availableParallelism());
    expect((threads - 1) * slots).toBeLessThan(availableParallelism());
  });

  test('reads what recognises speech: a server, a program with its model, or nothing', () => {
    const read = (env: object) => readEngineConfig({ ...REQUIRED, ...env }).transcode.recognizer;
    const common = { timeoutSeconds: 600, slots: 1 };
    expect(read({})).toBeUndefined();
    const url = 'http://whisper:8000/v1';
    expect(read({ RECOGNIZER_URL: `${url}/` })).toEqual({ kind: 'http', url, model: undefined, ...common });
    const [program, model] = ['/usr/bin/whisper-cli', '/models/small.bin'];
    const changed = { RECOGNIZER_TIMEOUT_SECONDS: '60', ENGINE_TRANSCRIPTIONS: '3' };
    expect(read({ RECOGNIZER_PROGRAM: program, RECOGNIZER_MODEL: model, ...changed })).toEqual({
      ...{ kind: 'program', program, model },
      ...{ timeoutSeconds: 60, slots: 3 },
    });
    expect(() => read({ RECOGNIZER_PROGRAM: program })).toThrow(
      'RECOGNIZER_PROGRAM needs RECOGNIZER_MODEL, the path of its model.',
    );
    expect(() => read({ RECOGNIZER_URL: url, RECOGNIZER_PROGRAM: program })).toThrow(
      'Set RECOGNIZER_URL or RECOGNIZER_PROGRAM, not both.',
    );
    expect(() => read({ RECOGNIZER_URL: 'whisper:8000' })).toThrow('RECOGNIZER_URL');
  });

  test('reads what encodes video: software, or a device', () => {
    const read = (changes: Record<string, string>) =>
      readEngineConfig({ ...REQUIRED, ...changes }).transcode.hardware;
    expect(read({})).toBeUndefined();
    expect(read({ ENGINE_VIDEO_ENCODER: 'software' })).toBeUndefined();
    expect(read({ ENGINE_VIDEO_ENCODER: 'vaapi' })).toEqual({
      kind: 'vaapi',
      device: '/dev/dri/renderD128',
    });
    expect(read({ ENGINE_VIDEO_ENCODER: 'nvenc' })).toEqual({ kind: 'nvenc', device: '/dev/nvidia0' });
    const device = '/dev/dri/renderD129';
    expect(read({ ENGINE_VIDEO_ENCODER: 'qsv', ENGINE_VIDEO_ENCODER_DEVICE: device })).toEqual({
      kind: 'qsv',
      device,
    });
    expect(() => read({ ENGINE_VIDEO_ENCODER: 'amf' })).toThrow('ENGINE_VIDEO_ENCODER');
    expect(() => read({ ENGINE_VIDEO_ENCODER_DEVICE: device })).toThrow(
      'ENGINE_VIDEO_ENCODER_DEVICE needs ENGINE_VIDEO_ENCODER: vaapi, qsv, nvenc.',
    );
    for (const bad of ['renderD128', '/dev/../etc/passwd', '/dev/dri/render D128', '/tmp/device', '/dev/'])
      expect(() => read({ ENGINE_VIDEO_ENCODER: 'qsv', ENGINE_VIDEO_ENCODER_DEVICE: bad })).toThrow(
        'must be the path of a device',
      );
  });

  test('reads whether renditions in other codecs keep 10 bits', () => {
    const read = (ENGINE_TEN_BIT: string) =>
      readEngineConfig({ ...REQUIRED, ENGINE_TEN_BIT }).transcode.tenBit;
    expect([read('yes'), read('no')]).toEqual([true, false]);
    expect(() => read('10')).toThrow('ENGINE_TEN_BIT');
  });

  test('reads whether surround sound and I-frame renditions are wanted', () => {
    const read = (ENGINE_SURROUND: string, ENGINE_I_FRAMES: string) => {
      const config = readEngineConfig({ ...REQUIRED, ENGINE_SURROUND, ENGINE_I_FRAMES });
      return [config.transcode.surround, config.transcode.iFrames];
    };
    expect([read('yes', 'no'), read('no', 'yes')]).toEqual([
      [true, false],
      [false, true],
    ]);
    expect(() => read('true', 'yes')).toThrow('ENGINE_SURROUND');
    expect(() => read('no', 'false')).toThrow('ENGINE_I_FRAMES');
  });

  test('reads the ranges from which files can be imported', () => {
    const read = (IMPORT_ALLOW_CIDRS: string) =>
      readEngineConfig({ ...REQUIRED, IMPORT_ALLOW_CIDRS }).imports.allowedRanges;
    expect(read('10.0.0.0/8,fd00::/8')).toHaveLength(2);
    expect(() => read('10.0.0.0/99')).toThrow('IMPORT_ALLOW_CIDRS: must be ranges like 10.0.0.0/8');
  });

  test('waits longer after each failed try of an import', () => {
    const { pauseSeconds } = readEngineConfig(REQUIRED).imports;
    expect(pauseSeconds.length).toBeGreaterThan(1);
    for (const [at, seconds] of pauseSeconds.slice(1).entries())
      expect(seconds).toBeGreaterThan(pauseSeconds[at] ?? 0);
  });

  test('the error names every missing or invalid setting, and no value', () => {
    const read = () =>
      readEngineConfig({ SERVICE_SECRET: 'too short', ENGINE_PRESET: 'warp', ENGINE_SLOTS: '0' });
    for (const name of [
      'CONTROL_PLANE_INTERNAL_URL',
      'PUBLIC_URL',
      'SERVICE_SECRET',
      'ENGINE_PRESET',
      'ENGINE_SLOTS',
    ]) {
      expect(read).toThrow(name);
    }
    expect(read).not.toThrow(/too short|warp/);
  });

  test('reads the maximum bit rates in kilobits per second', () => {
    const read = (ENGINE_MAX_RATES: string) => readEngineConfig({ ...REQUIRED, ENGINE_MAX_RATES });
    const rates = { '360p': 500_000, '480p': 1_000_000, '720p': 2_000_000, '1080p': 4_000_000 };
    expect(read('500,1000,2000,4000').transcode.maxRates).toEqual(rates);
    expect(read('100,101,102,100000').transcode.maxRates['1080p']).toBe(100_000_000);
    const wrongRates = [
      ...['500', '500,400,2000,4000', '500,500,2000,4000', '500,1000,2000,4000,8000', '99,100,200,300'],
      ...['a,b,c,d', '1,2,3,4', '500,1000,2000,100001', '500,1000,2000,4000k', '500,1000,2000,0004000'],
    ];
    for (const wrong of wrongRates) {
      expect(() => read(wrong)).toThrow('ENGINE_MAX_RATES: must be 4 increasing numbers from 100 to 100000');
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
