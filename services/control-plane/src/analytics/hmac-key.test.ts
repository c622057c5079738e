import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { HmacKey } from './hmac-key.ts';

test.each([0, 1, 32, 63, 64, 65, 200])('a key of %d bytes signs as createHmac does', (length) => {
  const key = Buffer.alloc(length, 'key ');
  const signing = new HmacKey(key);
  for (const text of ['', 'a viewer', 'ü'.repeat(100)]) {
    expect(signing.sign(text)).toEqual(createHmac('sha256', key).update(text).digest());
  }
});
