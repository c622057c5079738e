import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import winston from 'winston';
import { createLogger } from './logger.ts';

test('writes one JSON line per event, without secrets', async () => {
  const out = new PassThrough();
  const logger = createLogger({ service: 'engine' });
  logger.clear().add(new winston.transports.Stream({ stream: out }));
  logger.info('upload.received', { bytes: 7, uploadToken: 'ut_AbCdEfGhIjKlMnOpQrSt', note: 'Bearer abcdef' });
  const [line] = (await new Promise<Buffer>((resolve) => out.once('data', resolve))).toString().split('\n');
  expect(JSON.parse(line ?? '')).toEqual({
    level: 'info',
    message: 'upload.received',
    service: 'engine',
    timestamp: expect.any(String),
    bytes: 7,
    uploadToken: '[redacted]',
    note: 'Bearer [redacted]',
  });
});
