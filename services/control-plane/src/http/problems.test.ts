import { expect, test } from '@jest/globals';
import type { Request } from 'express';
import { translateHttpError } from './problems.ts';

test('the message for a body that is too large has the limit of its parser', () => {
  const messageFor = (limit: number) =>
    translateHttpError(
      Object.assign(new Error('too large'), { type: 'entity.too.large', limit }),
      {} as Request,
    )?.message;
  expect(messageFor(256 * 1024)).toBe('The JSON body is too large. Send at most 256 kB.');
  expect(messageFor(16 * 1024 ** 2)).toBe('The JSON body is too large. Send at most 16384 kB.');
});
