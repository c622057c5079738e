import { type Schemas, unwrap } from '@framelane/client';
import { useQuery } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { api, setCsrfToken } from '../api/api.ts';
import { isSessionError } from '../api/problem.ts';
import { SESSION_KEY } from '../api/query-client.ts';
import { takeCode } from './sign-in-code.ts';

export type Session = Schemas['ConsoleSession'];
export type Permission = Schemas['Permission'];

/** The session of the page. */
export const SessionContext = createContext<Session | undefined>(undefined);

/** The session of the page. Only for components inside the gate. */
export function useSession(): Session & { can: (permission: Permission) => boolean } {
  const session = use(SessionContext);
  if (session === undefined) throw new Error('There is no session');
  return { ...session, can: (permission) => session.permissions.includes(permission) };
}

/** Signs in with the code of the address, if there is one, or gets the session of the cookie. */
export function useSessionQuery() {
  return useQuery({
    queryKey: SESSION_KEY,
    queryFn: signInOrCheck,
    staleTime: 60_000,
    refetchOnWindowFocus: 'always',
  });
}

async function signInOrCheck(): Promise<Session> {
  const code = takeCode(location, history);
  const session = code === undefined ? await currentSession() : await signIn(code);
  setCsrfToken(session.csrfToken);
  return session;
}

function currentSession(): Promise<Session> {
  return unwrap(api.GET('/console/session'));
}

/** A link that was used before is no reason to end a session that this browser has. */
async function signIn(code: string): Promise<Session> {
  try {
    return await unwrap(api.POST('/console/sessions', { body: { code } }));
  } catch (error) {
    if (!isSessionError(error)) throw error;
    return await currentSession().catch(() => Promise.reject(error));
  }
}

/** Ends the session and loads the page again, so that nothing of it stays. */
export async function signOut(): Promise<void> {
  await unwrap(api.DELETE('/console/session'));
  location.reload();
}
