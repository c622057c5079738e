import { expect, test } from '@jest/globals';
import { permissionPresets } from './permission-presets.ts';

test('each choice has only permissions of the session, and none is empty', () => {
  expect(permissionPresets(['videos:read', 'videos:write', 'usage:read'])).toEqual([
    { name: 'Read only', permissions: ['videos:read', 'usage:read'] },
    { name: 'Upload videos', permissions: ['videos:write'] },
    { name: 'Everything', permissions: ['videos:read', 'videos:write', 'usage:read'] },
  ]);
  expect(permissionPresets(['usage:read']).map(({ name }) => name)).toEqual(['Read only', 'Everything']);
});
