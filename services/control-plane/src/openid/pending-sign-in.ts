import type { SealingKeys } from '@framelane/contracts/sealing';
import { z } from 'zod';

/** Time for the sign-in at the provider. */
const SIGN_IN_MS = 10 * 60_000;

/** What the browser stores, sealed, from the redirect to the provider until the redirect back. */
const pendingSignIn = z.object({
  /** Binds the response of the provider to this browser. */
  state: z.string(),
  /** Binds the ID token to this sign-in. */
  nonce: z.string(),
  /** The code of the provider cannot be exchanged without it (PKCE, RFC 7636). */
  codeVerifier: z.string(),
  /** Milliseconds since the Unix epoch. */
  expiresAt: z.number(),
});

/** A sign-in that has started at the provider and is not complete. */
export type PendingSignIn = Omit<z.infer<typeof pendingSignIn>, 'expiresAt'>;

/** Seals a pending sign-in, which expires after ten minutes. */
export async function sealPendingSignIn(
  keys: SealingKeys,
  values: PendingSignIn,
  now: Date,
): Promise<string> {
  return keys.seal(Buffer.from(JSON.stringify({ ...values, expiresAt: now.getTime() + SIGN_IN_MS })));
}

/** Opens a sealed pending sign-in; undefined if it has expired, was altered, or was sealed elsewhere. */
export async function openPendingSignIn(
  keys: SealingKeys,
  sealed: string,
  now: Date,
): Promise<PendingSignIn | undefined> {
  try {
    const { expiresAt, ...values } = pendingSignIn.parse(JSON.parse((await keys.open(sealed)).toString()));
    return expiresAt > now.getTime() ? values : undefined;
  } catch {
    return undefined;
  }
}
