import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Provider, { type Configuration } from 'oidc-provider';
// @ts-expect-error It has no types. Without it the provider warns that it keeps everything in memory.
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';

/** Somebody who signs in at the provider: the claims about them. */
export type Account = {
  email?: string;
  email_verified?: boolean;
  xms_edov?: boolean | number | string;
  name?: string;
};

/** The client that is registered at the provider. */
export const OPENID_CLIENT = { id: 'framelane', secret: 'tests-only-client-secret' };

/** A real OpenID Connect provider on the loopback. Its sign-in page asks for an email address only. */
export class OpenIdProviderServer {
  readonly port: number;
  readonly issuer: string;
  readonly #close: () => Promise<void>;

  private constructor(port: number, issuer: string, close: () => Promise<void>) {
    this.port = port;
    this.issuer = issuer;
    this.#close = close;
  }

  /**
   * Starts a provider. `claimsOf` returns the claims about the person with an email address. The provider checks the response type, PKCE
   * and the redirect URI, as for a real client.
   */
  static async start({
    redirectUri,
    port = 0,
    claimsOf = (email) => ({ email, email_verified: true, name: `Name of ${email}` }),
    ttl = {},
  }: {
    redirectUri: string;
    port?: number;
    claimsOf?: (email: string) => Account;
    /** Lifetimes in seconds that differ from those below. */
    ttl?: Configuration['ttl'];
  }): Promise<OpenIdProviderServer> {
    const server = createServer();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const bound = (server.address() as AddressInfo).port;
    const issuer = `http://127.0.0.1:${bound}`;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const provider = new Provider(issuer, {
      adapter: createMemoryAdapter(),
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
      ttl: {
        AccessToken: 600,
        AuthorizationCode: 60,
        Grant: 600,
        IdToken: 600,
        Interaction: 600,
        Session: 600,
        ...ttl,
      },
      clients: [
        {
          client_id: OPENID_CLIENT.id,
          client_secret: OPENID_CLIENT.secret,
          redirect_uris: [redirectUri],
          id_token_signed_response_alg: 'ES256',
          token_endpoint_auth_method: 'client_secret_post',
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified', 'xms_edov'], profile: ['name'] },
      features: { devInteractions: { enabled: false } },
      pkce: { required: () => true },
      cookies: { keys: ['tests-only-cookie-key'] },
      findAccount: (_ctx, accountId) => ({
        accountId,
        claims: () => ({ sub: accountId, ...claimsOf(accountId) }),
      }),
      // Nobody is asked for consent.
      loadExistingGrant: async ({ oidc }) => {
        const { client, session, provider } = oidc;
        const ids = { clientId: client?.clientId, accountId: session?.accountId };
        const grant = new provider.Grant(ids as { clientId: string; accountId: string });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
      interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    });
    const handle = provider.callback();
    server.on('request', async (req, res) => {
      if (!req.url?.startsWith('/interaction/')) return void handle(req, res);
      if (req.method === 'GET') return void res.setHeader('content-type', 'text/html').end(SIGN_IN_PAGE);
      const email = new URLSearchParams(await text(req)).get('email');
      const result = email ? { login: { accountId: email } } : { error: 'access_denied' };
      await provider.interactionFinished(req, res, result, { mergeWithLastSubmission: false });
    });
    return new OpenIdProviderServer(bound, issuer, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
  }

  stop(): Promise<void> {
    return this.#close();
  }
}

/** An empty address cancels the sign-in. */
const SIGN_IN_PAGE = `<!doctype html>
<html lang="en"><title>Provider</title><link rel="icon" href="data:,">
<form method="post"><label>Email <input name="email"></label><button>Continue</button></form>
</html>`;
