import { Problem } from '@framelane/service-kit/problem';
import * as openid from 'openid-client';
import { type Identity, identityOf } from './identity.ts';
import { limitedFetch } from './limited-fetch.ts';
import type { OpenIdSettings } from './openid-settings.ts';
import type { PendingSignIn } from './pending-sign-in.ts';
import { signInFailure } from './sign-in-failure.ts';

/** Time limit of one request to the provider. */
const TIMEOUT_SECONDS = 10;

/**
 * The provider of the installation. The first sign-in loads its discovery document. If that fails, the next sign-in tries
 * again.
 */
export class OpenIdProvider {
  readonly #settings: OpenIdSettings;
  readonly #redirectUri: string;
  #discovery: Promise<openid.Configuration> | undefined;

  /** `redirectUri` is registered at the provider. */
  constructor(settings: OpenIdSettings, redirectUri: string) {
    this.#settings = settings;
    this.#redirectUri = redirectUri;
  }

  /** A new sign-in, with the address at the provider where the person signs in. */
  async begin(): Promise<{ pending: PendingSignIn; url: URL }> {
    const configuration = await this.#configuration();
    const pending = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      codeVerifier: openid.randomPKCECodeVerifier(),
    };
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#redirectUri,
      scope: 'openid email profile',
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(pending.codeVerifier),
      code_challenge_method: 'S256',
    });
    return { pending, url };
  }

  /**
   * Exchanges the query of the provider's redirect for the identity of the person. Throws a sign-in failure with the reason.
   */
  async complete(query: string, pending: PendingSignIn): Promise<Identity> {
    const url = new URL(this.#redirectUri);
    url.search = query;
    if (url.searchParams.get('state') !== pending.state) {
      throw signInFailure('expired', 'The response is for another sign-in.');
    }
    const configuration = await this.#configuration();
    try {
      const tokens = await openid.authorizationCodeGrant(configuration, url, {
        expectedState: pending.state,
        expectedNonce: pending.nonce,
        pkceCodeVerifier: pending.codeVerifier,
      });
      const idToken = tokens.claims();
      if (idToken === undefined) throw signInFailure('rejected', 'There is no ID token.');
      // In the code flow, a provider may return the email only from its userinfo endpoint (OpenID Connect Core 1.0 §5.4).
      const claims =
        idToken.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
          ? await openid.fetchUserInfo(configuration, tokens.access_token, idToken.sub)
          : idToken;
      return identityOf(configuration.serverMetadata().issuer, claims);
    } catch (error) {
      throw failureOf(error);
    }
  }

  async #configuration(): Promise<openid.Configuration> {
    this.#discovery ??= this.#discover();
    try {
      return await this.#discovery;
    } catch (cause) {
      this.#discovery = undefined;
      throw signInFailure('unavailable', 'The provider could not be discovered.', cause);
    }
  }

  async #discover(): Promise<openid.Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    const server = new URL(issuer);
    // The settings allow http on this machine only.
    const insecure = server.protocol === 'http:' ? [openid.allowInsecureRequests] : [];
    return openid.discovery(server, clientId, clientSecret, undefined, {
      timeout: TIMEOUT_SECONDS,
      [openid.customFetch]: limitedFetch,
      execute: [openid.enableNonRepudiationChecks, ...insecure],
    });
  }
}

/** Errors of the token endpoint that an administrator has to correct (RFC 6749 §5.2). */
const MISCONFIGURED = ['invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope'];

function failureOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const fail = (reason: Parameters<typeof signInFailure>[0], detail: string) =>
    signInFailure(reason, detail, error);
  if (error instanceof openid.AuthorizationResponseError) {
    if (error.error === 'access_denied') return fail('denied', 'The provider refused the sign-in.');
    if (/server_error|temporarily_unavailable/.test(error.error))
      return fail('unavailable', 'The provider failed.');
    return fail('misconfigured', 'The provider refused the request.');
  }
  if (error instanceof openid.ResponseBodyError) {
    if (error.status >= 500) return fail('unavailable', 'The provider failed.');
    return MISCONFIGURED.includes(error.error)
      ? fail('misconfigured', 'The provider refused the client.')
      : fail('rejected', 'The provider refused the code.');
  }
  // `WWW-Authenticate` refuses the client (RFC 6749 §5.2) or the access token (RFC 6750 §3).
  if (error instanceof openid.WWWAuthenticateChallengeError) {
    return fail('misconfigured', 'The provider refused the client or the access token.');
  }
  // With these codes the provider is out of order. Another one is a failed check, for example of the signature or the nonce.
  if (
    error instanceof openid.ClientError &&
    error.code !== undefined &&
    !/TIMEOUT|NOT_CONFORM|NOT_JSON|PARSE_ERROR/.test(error.code)
  ) {
    return fail('rejected', 'The response of the provider is not valid.');
  }
  return fail('unavailable', 'The provider did not respond as expected.');
}
