import type { Schemas } from '@framelane/client';
import { describe, expect, test } from '@jest/globals';
import { chooseGrant } from './chosen-grant.ts';

const grant = (id: string, changes: Partial<Schemas['ConsoleSessionWorkspace']> = {}) => ({
  id,
  name: `Name of ${id}`,
  environments: ['live' as const, 'test' as const],
  permissions: ['videos:read' as const, 'videos:write' as const, 'api_keys:write' as const],
  ...changes,
});
const session = { workspaces: [grant('ws_1')] };

describe('the rights of the new key', () => {
  test('are those of the person, in the only workspace', () => {
    expect(chooseGrant(session, {})).toEqual({
      workspace: { id: 'ws_1', name: 'Name of ws_1' },
      environment: 'live',
      permissions: ['videos:read', 'videos:write', 'api_keys:write'],
    });
  });

  test.each([
    [{ readOnly: true }, ['videos:read']],
    [{ permissions: ['videos:write', 'videos:read'] }, ['videos:read', 'videos:write']],
  ])('are fewer with %j', (options, permissions) => {
    expect(chooseGrant(session, options)).toMatchObject({ permissions });
  });

  test('are for the chosen workspace and environment', () => {
    const several = { workspaces: [grant('ws_1'), grant('ws_2')] };
    expect(chooseGrant(several, { workspace: 'ws_2', environment: 'test' })).toMatchObject({
      workspace: { id: 'ws_2' },
      environment: 'test',
    });
  });

  test.each([
    [
      'several workspaces',
      { workspaces: [grant('ws_1'), grant('ws_2')] },
      {},
      /several workspaces.*--workspace:\n {2}ws_1 {2}Name of ws_1\n {2}ws_2/s,
    ],
    ['another workspace', session, { workspace: 'ws_3' }, /not for the workspace ws_3/],
    [
      'another environment',
      { workspaces: [grant('ws_1', { environments: ['test'] })] },
      { environment: 'live' as const },
      /environment test only/,
    ],
    [
      'no right to create keys',
      { workspaces: [grant('ws_1', { permissions: ['videos:read'] })] },
      {},
      /does not allow to create API keys/,
    ],
    [
      'a right that the person lacks',
      session,
      { permissions: ['usage:read'] },
      /does not give usage:read\. It gives videos:read, /,
    ],
  ])('cannot be chosen with %s', (_what, from, options, message) => {
    expect(() => chooseGrant(from, options)).toThrow(message);
  });
});
