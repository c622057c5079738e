import type { Permission } from '../sign-in/session.ts';

/** The usual choices of permissions, each with those of it that the session has. A choice of none is left out. */
export function permissionPresets(own: readonly Permission[]): { name: string; permissions: Permission[] }[] {
  return [
    { name: 'Read only', permissions: own.filter((each) => each.endsWith(':read')) },
    { name: 'Upload videos', permissions: own.filter((each) => each === 'videos:write') },
    { name: 'Everything', permissions: [...own] },
  ].filter(({ permissions }) => permissions.length > 0);
}
