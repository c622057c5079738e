/** Who the provider says has signed in. */
export type Identity = { email: string; isEmailVerified: boolean; name: string | undefined };

/**
 * The issuers of Microsoft Entra ID, for one tenant: of the worldwide cloud, of the US government, and of China. Only these send
 * `xms_edov`, "email domain owner verified", in place of `email_verified`.
 */
const ENTRA_ISSUER =
  /^https:\/\/(login\.microsoftonline\.(com|us)|login\.partner\.microsoftonline\.cn)\/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\/v2\.0$/i;

/** Who the claims of an issuer are about. At other providers than Entra, people may choose the value of a claim with the name `xms_edov`. */
export function identityOf(issuer: string, claims: Readonly<Record<string, unknown>>): Identity {
  const { email, email_verified, xms_edov, name } = claims;
  return {
    email: typeof email === 'string' ? email : '',
    isEmailVerified:
      email_verified === undefined && ENTRA_ISSUER.test(issuer) ? isTrue(xms_edov) : email_verified === true,
    name: typeof name === 'string' ? name : undefined,
  };
}

/** Entra also writes 1 for true. */
function isTrue(claim: unknown): boolean {
  return claim === true || claim === 1 || claim === '1';
}
