import { type Schemas, type SessionScope, unwrap } from '@framelane/client';
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { api, setCsrfToken } from '../api/api.ts';
import { isScopeError, isSessionError } from '../api/problem.ts';
import { SESSION_KEY } from '../api/query-client.ts';
import { chosenScope, forgetScope, keepDefaultScope } from '../api/scope.ts';
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
  // From here on each request names the workspace, whatever another tab chooses.
  keepDefaultScope({ workspaceId: session.workspace.id, environment: session.environment });
  return session;
}

/** The session with the choice of this tab, or with its default if it lacks that workspace or environment. */
async function currentSession(): Promise<Session> {
  const scope = chosenScope();
  try {
    return await sessionIn(scope);
  } catch (error) {
    if (!isScopeError(error)) throw error;
    // Somebody may have chosen another one meanwhile.
    if (chosenScope() === scope) forgetScope();
    return await sessionIn(chosenScope());
  }
}

/** The session in a workspace and environment. */
export function sessionIn(scope: SessionScope | undefined): Promise<Session> {
  const header = scope && {
    'X-Svc-Workspace': scope.workspaceId,
    'X-Framelane-Environment': scope.environment,
  };
  return unwrap(api.GET('/console/session', { params: { ...(header && { header }) } }));
}

/** Makes this the session of the page. */
export function setSession(queries: QueryClient, session: Session): void {
  queries.setQueryData(SESSION_KEY, session);
}

/** Signs in with the code of a link. If the code is refused, returns the session that this browser already has. */
async function signIn(code: string): Promise<Session> {
  try {
    await unwrap(api.POST('/console/sessions', { body: { code } }));
    return await currentSession();
  } catch (error) {
    if (!isSessionError(error)) throw error;
    return await currentSession().catch(() => Promise.reject(error));
  }
}
