import { hash, randomInt } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Random base62 text of this length; 43 characters carry 256 bits. */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join('');
}

/** The hash of a random token, as the database stores it. SHA-256 suffices for tokens of 190 random bits or more. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
