import { createDecipheriv, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { encryptedBytes, encryptSegment } from './segment-encryption.ts';

test.each([0, 1, 258, 2 ** 33])(
  'segment %s is encrypted with its sequence number as the vector',
  async (sequence) => {
    const key = randomBytes(16);
    const segment = randomBytes(188 * 100);
    const ciphertext = await buffer(encryptSegment(Readable.from([segment]), key, sequence));

    const vector = Buffer.from(sequence.toString(16).padStart(32, '0'), 'hex');
    const decipher = createDecipheriv('aes-128-cbc', key, vector);
    expect(Buffer.concat([decipher.update(ciphertext), decipher.final()])).toEqual(segment);
    expect(ciphertext.length).toBe(encryptedBytes(segment.length));
  },
);

test.each([
  [0, 16],
  [15, 16],
  [16, 32],
  [188, 192],
])('%s bytes have %s bytes of ciphertext', async (bytes, expected) => {
  expect(encryptedBytes(bytes)).toBe(expected);
  const segment = Readable.from([randomBytes(bytes)]);
  expect(await buffer(encryptSegment(segment, randomBytes(16), 0))).toHaveLength(expected);
});

test('the ciphertext fails with the error of the segment', async () => {
  const broken = new Readable({ read: () => broken.destroy(new Error('The disk failed')) });
  await expect(buffer(encryptSegment(broken, randomBytes(16), 0))).rejects.toThrow('The disk failed');
});
