import { createClient, type FramelaneClient, FramelaneError, type Schemas, unwrap } from '@framelane/client';
import type { SignInLink } from './sign-in-link.ts';

/** The client of a session, whose requests carry its cookie, and the session. */
type SignedIn = { client: FramelaneClient; session: Schemas['ConsoleSession'] };

/** Exchanges the code of a link for a session of the console, lets `work` use it, and ends it. */
export async function withConsoleSession<T>(
  { baseUrl, origin, code }: SignInLink,
  signal: AbortSignal,
  work: (signedIn: SignedIn) => Promise<T>,
): Promise<T> {
  let cookie = '';
  let session: Schemas['ConsoleSession'] | undefined;
  const client = createClient({
    baseUrl,
    csrfToken: () => session?.csrfToken,
    fetch: (request) => {
      const headers = new Headers(request.headers);
      // The server accepts a session from the console only.
      headers.set('Origin', origin);
      if (cookie !== '') headers.set('Cookie', cookie);
      return fetch(new Request(request, { headers }));
    },
  });
  // The code is valid once: a retry would be refused.
  const call = client.POST('/console/sessions', { body: { code }, signal, retries: 0 });
  const { response } = await call;
  session = await unwrap(call);
  cookie = response.headers
    .getSetCookie()
    .map((each) => each.split(';', 1)[0] ?? '')
    .join('; ');
  if (cookie === '')
    throw new FramelaneError('The sign-in set no cookie. A proxy may have removed it.', {
      code: 'unexpected_response',
    });
  try {
    return await work({ client, session });
  } finally {
    // It would expire by itself.
    await client.DELETE('/console/session', { retries: 1, timeoutMs: 5_000 }).catch(() => {});
  }
}
