import { createClient } from '@framelane/client';
import { API_URL } from '../paths.ts';

let csrfToken: string | undefined;

/** Sets the token that proves that a request comes from this page. */
export function setCsrfToken(token: string | undefined): void {
  csrfToken = token;
}

/** The client of the API. Its credential is the cookie of the session. */
export const api = createClient({
  baseUrl: API_URL,
  csrfToken: () => csrfToken,
  retries: 2,
  timeoutMs: 20_000,
});
