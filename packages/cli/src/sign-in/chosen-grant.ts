import type { Schemas } from '@framelane/client';
import { CliError } from '../cli-error.ts';

type Grant = Schemas['ConsoleSessionWorkspace'];
type Permission = Schemas['Permission'];

export type GrantOptions = {
  workspace?: string;
  environment?: Schemas['Environment'];
  permissions?: readonly string[];
  readOnly?: boolean;
};

/** What the new key is for. */
export type ChosenGrant = {
  workspace: Pick<Grant, 'id' | 'name'>;
  environment: Schemas['Environment'];
  permissions: Permission[];
};

/** Chooses a workspace of the session, and permissions among those of the person. Throws a CliError that says what there is to choose. */
export function chooseGrant(
  { workspaces }: Pick<Schemas['ConsoleSession'], 'workspaces'>,
  { workspace, environment, permissions, readOnly }: GrantOptions,
): ChosenGrant {
  const grant = chosenWorkspace(workspaces, workspace);
  const [first] = grant.environments;
  if (first === undefined || (environment !== undefined && !grant.environments.includes(environment)))
    throw new CliError(`The link is for the environment ${grant.environments.join(' and ')} only.`);
  if (!grant.permissions.includes('api_keys:write'))
    throw new CliError(
      'The link does not allow to create API keys. Use one with the permission api_keys:write, or an existing key with --key-stdin.',
    );
  return {
    workspace: { id: grant.id, name: grant.name },
    environment: environment ?? first,
    permissions: chosenPermissions(grant.permissions, permissions, readOnly),
  };
}

function chosenWorkspace(workspaces: readonly Grant[], id: string | undefined): Grant {
  const [only, ...others] = id === undefined ? workspaces : workspaces.filter((each) => each.id === id);
  if (only !== undefined && others.length === 0) return only;
  const list = workspaces.map((each) => `  ${each.id}  ${each.name}`).join('\n');
  const problem =
    only === undefined ? `The link is not for the workspace ${id}.` : 'The link is for several workspaces.';
  throw new CliError(`${problem} Get a new link, and choose with --workspace:\n${list}`);
}

function chosenPermissions(
  allowed: readonly Permission[],
  named: readonly string[] | undefined,
  readOnly: boolean | undefined,
): Permission[] {
  if (named === undefined) return allowed.filter((permission) => !readOnly || permission.endsWith(':read'));
  const missing = named.filter((each) => !allowed.some((permission) => permission === each));
  if (missing.length > 0)
    throw new CliError(`The link does not give ${missing.join(', ')}. It gives ${allowed.join(', ')}.`);
  return allowed.filter((permission) => named.includes(permission));
}
