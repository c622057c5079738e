import { SettingsError } from '@framelane/service-kit/settings';

/** The provider that signs people in to the console. */
export type OpenIdSettings = {
  /** The issuer identifier of the provider. The discovery document is below this URL. */
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The name of the provider on the button. */
  name: string;
};

type Values = {
  OIDC_ISSUER?: string | undefined;
  OIDC_CLIENT_ID?: string | undefined;
  OIDC_CLIENT_SECRET?: string | undefined;
  OIDC_NAME?: string | undefined;
};

/** The provider; undefined without one. Throws a SettingsError if only some of the settings are set. */
export function openIdSettingsOf(values: Values): OpenIdSettings | undefined {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_NAME } = values;
  const given = { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_NAME };
  if (OIDC_ISSUER && OIDC_CLIENT_ID && OIDC_CLIENT_SECRET && OIDC_NAME) {
    return {
      issuer: OIDC_ISSUER,
      clientId: OIDC_CLIENT_ID,
      clientSecret: OIDC_CLIENT_SECRET,
      name: OIDC_NAME,
    };
  }
  const missing = Object.entries(given).flatMap(([name, value]) => (value ? [] : [name]));
  if (missing.length === Object.keys(given).length) return undefined;
  throw new SettingsError(
    `${missing.join(' and ')}: not set. OpenID Connect needs all of ${Object.keys(given).join(', ')}, or none.`,
  );
}

/**
 * Whether an issuer is safe to use: over https, or on this machine. The connection carries the client secret and the
 * identities of people.
 */
export function isSafeIssuer(issuer: string): boolean {
  const { protocol, hostname } = new URL(issuer);
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
