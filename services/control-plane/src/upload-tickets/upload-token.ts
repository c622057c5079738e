import { hashToken, randomBase62 } from '../auth/secret-tokens.ts';

/** 32 base62 characters carry 190 bits. */
const TOKEN_LENGTH = 32;

/** A new single-use upload token, `ut_…`; only its hash is stored. */
export function newUploadToken(): string {
  return `ut_${randomBase62(TOKEN_LENGTH)}`;
}

/** What is stored of a token, and looked up by. */
export function hashUploadToken(token: string): Buffer {
  return hashToken(token);
}
