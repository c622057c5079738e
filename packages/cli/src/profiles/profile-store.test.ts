import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { profilesPath, readProfiles, writeProfiles } from './profile-store.ts';

const PROFILES = {
  default: { baseUrl: 'https://video.test/v1', workspaceId: 'ws_1', apiKey: 'svc_live_secret' },
};

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-profiles-'));
  path = profilesPath({ XDG_CONFIG_HOME: directory });
});
afterEach(() => rm(directory, { recursive: true }));

test('profiles are stored in a file that only the user can read', async () => {
  expect(await readProfiles(path)).toEqual({});
  await writeProfiles(path, PROFILES);
  expect(await readProfiles(path)).toEqual(PROFILES);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('a file that others can read is replaced by one that they cannot', async () => {
  await mkdir(dirname(path));
  await writeFile(path, '{"profiles":{}}');
  await chmod(path, 0o644);
  await writeProfiles(path, PROFILES);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test.each(['{', '{}', 'null', '{"profiles":{"a":{"apiKey":1}}}'])(
  'a damaged file (%s) is an error that does not repeat it',
  async (text) => {
    await mkdir(dirname(path));
    await writeFile(path, text);
    await expect(readProfiles(path)).rejects.toThrow(`${path} is damaged. Delete it, and sign in again`);
    expect(await readFile(path, 'utf8')).toBe(text);
  },
);

test('the path follows the XDG Base Directory Specification', () => {
  expect(profilesPath({ HOME: '/home/a' })).toBe('/home/a/.config/framelane/config.json');
});
