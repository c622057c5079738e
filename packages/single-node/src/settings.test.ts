import { describe, expect, test } from '@jest/globals';
import { readSingleNodeSettings, servesOnlyThisMachine } from './settings.ts';

describe('settings of a single node', () => {
  test('need nothing', () => {
    expect(readSingleNodeSettings({})).toMatchObject({
      host: '127.0.0.1',
      publicUrl: 'http://localhost:8080',
      enginePublicUrl: 'http://localhost:8090',
      dataDir: { root: `${process.cwd()}/.data`, objects: `${process.cwd()}/.data/objects` },
      databaseUrl: undefined,
      s3: undefined,
    });
  });

  test('public addresses follow the ports unless they are given', () => {
    const env = { PORT: '9000', ENGINE_PORT: '9001', ENGINE_PUBLIC_URL: 'https://up.example.com/' };
    expect(readSingleNodeSettings(env)).toMatchObject({
      publicUrl: 'http://localhost:9000',
      enginePublicUrl: 'https://up.example.com',
    });
  });

  test.each([
    ['a broker that is none', { AMQP_URL: 'http://mq' }, /^AMQP_URL: must be an amqp:/],
    ['a port left to the system', { PORT: '0' }, /^PORT: /],
    ['one port for both', { PORT: '9000', ENGINE_PORT: '9000' }, /PORT and ENGINE_PORT/],
    ['an unknown log format', { LOG_FORMAT: 'xml' }, /^LOG_FORMAT: must be pretty or json$/],
    ['half an S3', { S3_ENDPOINT: 'http://s3:9000' }, /S3_BUCKET is not set/],
  ])('refuse %s', (_name, env, message) => {
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
  ])('tell whether %j serves this machine only: %s', (env, expected) => {
    expect(servesOnlyThisMachine(readSingleNodeSettings(env))).toBe(expected);
  });

  test('a bucket makes objects go to S3', () => {
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
