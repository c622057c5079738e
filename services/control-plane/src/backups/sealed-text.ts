import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { z } from 'zod';

/** The cost of one guess of a passphrase: 128 MiB of memory (RFC 7914 §2). */
const COST = { N: 2 ** 17, r: 8, p: 1 };
const MEMORY = 2 * 128 * COST.N * COST.r;

const base64 = z.base64().transform((text) => Buffer.from(text, 'base64'));
const sealedText = z.object({
  kdf: z.literal('scrypt'),
  cipher: z.literal('aes-256-gcm'),
  salt: base64,
  iv: base64,
  tag: base64,
  text: base64,
});

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);
const keyOf = (passphrase: string, salt: Buffer) =>
  derive(passphrase.normalize('NFC'), salt, 32, { ...COST, maxmem: MEMORY });

/** The passphrase is wrong, or the sealed text was altered. */
export class UnsealError extends Error {
  override name = 'UnsealError';
}

/** Encrypts a text with a passphrase (scrypt, AES-256-GCM), as JSON. */
export async function sealText(text: string, passphrase: string): Promise<string> {
  const [salt, iv] = [randomBytes(16), randomBytes(12)];
  const cipher = createCipheriv('aes-256-gcm', await keyOf(passphrase, salt), iv);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  const parts = Object.entries({ salt, iv, tag: cipher.getAuthTag(), text: sealed });
  return JSON.stringify({
    kdf: 'scrypt',
    cipher: 'aes-256-gcm',
    ...Object.fromEntries(parts.map(([name, bytes]) => [name, bytes.toString('base64')])),
  });
}

/** Decrypts what `sealText` has made. Throws an UnsealError. */
export async function unsealText(sealed: string, passphrase: string): Promise<string> {
  try {
    const { salt, iv, tag, text } = sealedText.parse(JSON.parse(sealed));
    const key = await keyOf(passphrase, salt);
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: 16 }).setAuthTag(tag);
    return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8');
  } catch {
    // Without the cause, which may quote what it could not read.
    throw new UnsealError('The passphrase does not open the secrets of the backup, or they were altered.');
  }
}
