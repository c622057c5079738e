import { Problem } from '@framelane/service-kit/problem';
import type { Environment, Permission } from '../db/schema.ts';
import type { Credential } from './authentication.ts';

/** What a key, a session or a sign-in link allows in one workspace. */
export type Rights = {
  workspaceId: string;
  environments: readonly Environment[];
  permissions: readonly Permission[];
  /** Whether it also shows the whole installation. */
  administrator: boolean;
};

/** What a person may do in a workspace. The first environment is the default. */
export type WorkspaceGrant = {
  workspaceId: string;
  environments: readonly [Environment, ...Environment[]];
  permissions: readonly Permission[];
};

/** A row of a key (one environment), or of a session or a link (one or more). */
type Row = {
  workspace_id: string;
  permissions: readonly Permission[];
  administrator?: boolean;
} & ({ environments: readonly Environment[] } | { environment: Environment });

/** The rights of a key, a session or a link. */
export function rightsOf(row: Row): Rights {
  return {
    workspaceId: row.workspace_id,
    environments: 'environments' in row ? row.environments : [row.environment],
    permissions: row.permissions,
    administrator: row.administrator ?? false,
  };
}

/**
 * What `wanted` allows and `held` does not, in words for messages; empty if `held` covers it. Nobody can grant or end rights that
 * exceed their own, neither directly nor by way of another key. `live` covers `test`: test videos expire, and count as test usage.
 */
export function excessOf(held: Rights, wanted: Rights): string[] {
  const heldEnvironments = held.environments.includes('live') ? ['live', 'test'] : held.environments;
  return [
    ...(wanted.workspaceId === held.workspaceId ? [] : [`the workspace ${wanted.workspaceId}`]),
    ...without(wanted.environments, heldEnvironments).map((environment) => `the environment ${environment}`),
    ...without(wanted.permissions, held.permissions),
    ...(wanted.administrator && !held.administrator ? ['the rights of an administrator'] : []),
  ];
}

/** Throws 403 `permission_escalation` if what the caller creates would exceed the caller's rights. */
export function requireToGrant(caller: Credential, wanted: Rights): void {
  const excess = excessOf(rightsOf(caller), wanted);
  if (excess.length === 0) return;
  throw new Problem(
    'permission_escalation',
    `${NAMES[caller.kind]} can grant only rights that it has. This one lacks ${excess.join(', ')}.`,
  );
}

/**
 * Throws 403 `insufficient_permissions` if one of the keys, sessions and links that the caller ends exceeds the caller's rights.
 * `what` completes the message, e.g. `revoke only keys`.
 */
export function requireToEnd(caller: Credential, ended: readonly Rights[], what: string): void {
  const held = rightsOf(caller);
  const excess = new Set(ended.flatMap((rights) => excessOf(held, rights)));
  if (excess.size === 0) return;
  throw new Problem(
    'insufficient_permissions',
    `${NAMES[caller.kind]} can ${what} whose rights it has. The ${caller.kind} of this request lacks ${[...excess].join(', ')}.`,
  );
}

/** Names for messages. */
const NAMES = { key: 'A key', session: 'A session' };

function without<T extends string>(wanted: readonly T[], held: readonly string[]): T[] {
  return wanted.filter((each) => !held.includes(each));
}
