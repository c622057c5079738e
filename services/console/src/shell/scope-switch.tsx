import type { SessionScope } from '@framelane/client';
import { NativeSelect } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { SESSION_KEY } from '../api/query-client.ts';
import { chooseScope } from '../api/scope.ts';
import { Logo } from '../design/logo.tsx';
import { pagesFor } from '../navigation.ts';
import { type Session, sessionIn, setSession, useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { EnvironmentBadge } from './environment-badge.tsx';

type Workspace = Session['workspaces'][number];
type Environment = Session['environment'];

/** The workspace and environment of the tab. Each is a choice if the session has several. */
export function ScopeSwitch() {
  const { workspace, workspaces, environment } = useSession();
  const switching = useSwitch();
  const environments = workspaces.find(({ id }) => id === workspace.id)?.environments ?? [environment];
  const toWorkspace = (id: string) => {
    const chosen = workspaces.find((each) => each.id === id);
    if (chosen !== undefined)
      switching.mutate({ workspaceId: id, environment: nearest(chosen, environment) });
  };
  return (
    <>
      <div className="scope">
        <Logo />
        {workspaces.length === 1 ? (
          <span className="workspace" title={workspace.name}>
            {workspace.name}
          </span>
        ) : (
          <NativeSelect
            size="xs"
            className="workspace"
            aria-label="Workspace"
            title={workspace.name}
            value={workspace.id}
            disabled={switching.isPending}
            onChange={({ currentTarget }) => toWorkspace(currentTarget.value)}
            data={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
          />
        )}
        {environments.length === 1 ? (
          <EnvironmentBadge environment={environment} />
        ) : (
          <NativeSelect
            size="xs"
            className="environment"
            aria-label="Environment"
            value={environment}
            disabled={switching.isPending}
            onChange={({ currentTarget }) =>
              switching.mutate({
                workspaceId: workspace.id,
                environment: currentTarget.value as Environment,
              })
            }
            data={[...environments]}
          />
        )}
      </div>
      {switching.error && <ErrorAlert error={switching.error} />}
    </>
  );
}

/** The environment in another workspace: the same one, if the session has it there. */
function nearest(
  { environments: [first = 'live', ...others] }: Workspace,
  current: Environment,
): Environment {
  return others.includes(current) ? current : first;
}

/** Gets the session in another workspace or environment, then shows the same kind of page there, without data of the former one. */
function useSwitch() {
  const queries = useQueryClient();
  const [path, navigate] = useLocation();
  return useMutation({
    mutationFn: (scope: SessionScope) => sessionIn(scope),
    onSuccess: async (session, scope) => {
      await queries.cancelQueries();
      chooseScope(scope);
      setSession(queries, session);
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
      const section = `/${path.split('/')[1]}`;
      navigate(pagesFor(session).some((page) => page.path === section) ? section : '/');
    },
  });
}
