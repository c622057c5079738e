import { describe, expect, test } from '@jest/globals';
import { excessOf, type Rights, rightsOf } from './rights.ts';

const PERMISSIONS = ['videos:read', 'videos:write', 'api_keys:write', 'usage:read'] as const;

const full: Rights = {
  workspaceId: 'ws_a',
  environments: ['live', 'test'],
  permissions: PERMISSIONS,
  administrator: true,
};

describe.each<[string, Partial<Rights>, Partial<Rights>, string[]]>([
  ['the same rights', {}, {}, []],
  ['fewer rights', {}, { environments: ['test'], permissions: ['videos:read'], administrator: false }, []],
  ['another workspace', {}, { workspaceId: 'ws_b' }, ['the workspace ws_b']],
  ['live, held by test', { environments: ['test'] }, { environments: ['live'] }, ['the environment live']],
  ['both, held by test', { environments: ['test'] }, {}, ['the environment live']],
  ['test, held by live', { environments: ['live'] }, { environments: ['test'] }, []],
  ['both, held by live', { environments: ['live'] }, {}, []],
  [
    'more permissions',
    { permissions: ['api_keys:write', 'videos:read'] },
    { permissions: ['videos:read', 'videos:write', 'usage:read'] },
    ['videos:write', 'usage:read'],
  ],
  ['an administrator', { administrator: false }, {}, ['the rights of an administrator']],
])('%s', (_, held, wanted, excess) => {
  test(excess.length === 0 ? 'is covered' : `exceeds by ${excess}`, () => {
    expect(excessOf({ ...full, ...held }, { ...full, ...wanted })).toEqual(excess);
  });
});

test('a key, a session and a link have the rights of their row', () => {
  const row = { workspace_id: 'ws_a', permissions: PERMISSIONS };
  expect(rightsOf({ ...row, environment: 'test' })).toEqual({
    ...full,
    environments: ['test'],
    administrator: false,
  });
  // The rows of a request with a session also have the chosen environment.
  const session = {
    ...row,
    environment: 'test',
    environments: ['test', 'live'],
    administrator: true,
  } as const;
  expect(rightsOf(session)).toEqual({ ...full, environments: ['test', 'live'] });
});

test('a chain of credentials never reaches rights that the first one lacks', () => {
  const all = [['live'], ['test'], ['live', 'test']].flatMap((environments) =>
    [[], ['videos:read'], ['api_keys:write'], ['videos:read', 'api_keys:write']].flatMap((permissions) =>
      [false, true].map((administrator) => ({ ...full, environments, permissions, administrator }) as Rights),
    ),
  );
  const covered = (held: Rights) => all.filter((wanted) => excessOf(held, wanted).length === 0);
  for (const first of all) {
    expect(covered(first)).toContain(first);
    for (const second of covered(first))
      expect(covered(first)).toEqual(expect.arrayContaining(covered(second)));
  }
});
