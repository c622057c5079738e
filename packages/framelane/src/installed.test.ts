import { expect, test } from '@jest/globals';
import { dataDirOf } from './installed.ts';

const withoutHome = () => {
  throw new Error('uv_os_homedir returned ENOENT');
};

test.each([
  [{}, () => '/home/a', '/home/a/.local/share/framelane'],
  [{ XDG_DATA_HOME: '/data' }, withoutHome, '/data/framelane'],
  [{ XDG_DATA_HOME: 'relative' }, () => '/home/a', '/home/a/.local/share/framelane'],
  [{}, () => 'relative', '/.local/share/framelane'],
  [{}, withoutHome, '/.local/share/framelane'],
])('the data with %j and the home %p is in one place', (env, home, expected) => {
  expect(dataDirOf(env, home)).toBe(expected);
});
