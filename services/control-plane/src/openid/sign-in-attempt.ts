import type { SealingKeys } from '@framelane/contracts/sealing';
import { z } from 'zod';

/** Time for the sign-in at the provider. */
const ATTEMPT_MS = 10 * 60_000;

/** The attempt that the browser stores, sealed, from the redirect to the provider until the redirect back. */
const attempt = z.object({
  /** Binds the response of the provider to this browser. */
  state: z.string(),
  /** Binds the ID token to this sign-in. */
  nonce: z.string(),
  /** The code of the provider cannot be exchanged without it (PKCE, RFC 7636). */
  codeVerifier: z.string(),
  /** Milliseconds of the epoch. */
  expiresAt: z.number(),
});

/** A sign-in that has begun. */
export type SignInAttempt = Omit<z.infer<typeof attempt>, 'expiresAt'>;

/** Seals an attempt, which expires after ten minutes. */
export async function sealAttempt(keys: SealingKeys, values: SignInAttempt): Promise<string> {
  return keys.seal(Buffer.from(JSON.stringify({ ...values, expiresAt: Date.now() + ATTEMPT_MS })));
}

/** Opens a sealed attempt; undefined if it has expired, was altered, or was sealed elsewhere. */
export async function openAttempt(keys: SealingKeys, sealed: string): Promise<SignInAttempt | undefined> {
  try {
    const { expiresAt, ...values } = attempt.parse(JSON.parse((await keys.open(sealed)).toString()));
    return expiresAt > Date.now() ? values : undefined;
  } catch {
    return undefined;
  }
}
