import { createClient, type SessionScope } from '@framelane/client';
import { API_URL } from '../paths.ts';
import { chosenScope } from './scope.ts';

let csrfToken: string | undefined;

/** Sets the token that proves that a request comes from this page. */
export function setCsrfToken(token: string | undefined): void {
  csrfToken = token;
}

const connection = { baseUrl: API_URL, csrfToken: () => csrfToken, retries: 2, timeoutMs: 20_000 };

/** The client of the API. Its credential is the cookie of the session. */
export const api = createClient({ ...connection, scope: chosenScope });

/**
 * A client bound to one workspace and environment. Uploads and bulk actions use it, because the user may switch to another one meanwhile.
 */
export function apiIn(scope: SessionScope): typeof api {
  return createClient({ ...connection, scope: () => scope });
}
