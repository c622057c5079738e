import { describe, expect, test } from '@jest/globals';
import { readSingleNodeSettings, servesOnlyThisMachine } from './settings.ts';

describe('settings of a single node', () => {
  test('are all optional', () => {
    expect(readSingleNodeSettings({})).toMatchObject({
      host: '127.0.0.1',
      publicUrl: 'http://localhost:8080',
      enginePublicUrl: 'http://localhost:8090',
      dataDir: { root: `${process.cwd()}/.data`, objects: `${process.cwd()}/.data/objects` },
      databaseUrl: undefined,
      s3: undefined,
    });
  });

  test('derive public URLs from the ports unless they are set', () => {
    const env = { PORT: '9000', ENGINE_PORT: '9001', ENGINE_PUBLIC_URL: 'https://up.example.com/' };
    expect(readSingleNodeSettings(env)).toMatchObject({
      publicUrl: 'http://localhost:9000',
      enginePublicUrl: 'https://up.example.com',
    });
  });

  test.each([
    ['a broker URL with another scheme', { AMQP_URL: 'http://mq' }, /^AMQP_URL: must be an amqp:/],
    ['port 0', { PORT: '0' }, /^PORT: /],
    ['the same port twice', { PORT: '9000', ENGINE_PORT: '9000' }, /PORT and ENGINE_PORT/],
    ['an unknown log format', { LOG_FORMAT: 'xml' }, /^LOG_FORMAT: must be pretty or json$/],
    ['S3 without a bucket', { S3_ENDPOINT: 'http://s3:9000' }, /S3_BUCKET is not set/],
  ])('reject %s', (_name, env, message) => {
    expect(() => readSingleNodeSettings(env)).toThrow(message);
  });

  test.each([
    [{}, true],
    [{ HOST: '::1', PUBLIC_URL: 'http://[::1]:8080' }, true],
    [{ HOST: '127.0.0.2', PUBLIC_URL: 'http://127.0.0.2:8080' }, true],
    [{ HOST: '0.0.0.0' }, false],
    [{ HOST: '::' }, false],
    [{ HOST: '192.168.1.2' }, false],
    [{ PUBLIC_URL: 'https://video.example.com' }, false],
  ])('decide whether %j serves only this machine: %s', (env, expected) => {
    expect(servesOnlyThisMachine(readSingleNodeSettings(env))).toBe(expected);
  });

  test('select S3 when a bucket is set', () => {
    const env = { S3_BUCKET: 'videos', S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' };
    expect(readSingleNodeSettings(env).s3).toEqual({
      bucket: 'videos',
      region: 'us-east-1',
      accessKeyId: 'id',
      secretAccessKey: 'secret',
      forcePathStyle: false,
    });
  });
});
