import { describe, expect, test } from '@jest/globals';
import { chooseConnection, readBaseUrl } from './connection.ts';

const profile = (name: string) => ({
  baseUrl: `https://${name}.test/v1`,
  workspaceId: `ws_${name}`,
  apiKey: name,
});
const PROFILES = { default: profile('default'), other: profile('other') };
const ENV = {
  FRAMELANE_BASE_URL: 'https://env.test/v1',
  FRAMELANE_API_KEY: 'env',
  FRAMELANE_WORKSPACE_ID: 'ws_env',
};

describe('the connection of a command', () => {
  test.each([
    ['--profile, before the environment', 'other', ENV, PROFILES.other],
    ['the environment, before the stored profile', undefined, ENV, profile('env')],
    ['the profile that the environment names', undefined, { FRAMELANE_PROFILE: 'other' }, PROFILES.other],
    ['the default profile', undefined, {}, PROFILES.default],
  ])('is that of %s', (_what, named, env, expected) => {
    expect(chooseConnection(named, env, PROFILES)).toEqual(expected);
  });

  test.each(['FRAMELANE_BASE_URL', 'FRAMELANE_WORKSPACE_ID'])(
    'never sends the key of the environment to another server: without %s it is an error',
    (missing) => {
      expect(() => chooseConnection(undefined, { ...ENV, [missing]: '' }, PROFILES)).toThrow(
        'Set FRAMELANE_BASE_URL',
      );
    },
  );

  test.each([
    [undefined, 'You are not signed in. Run "framelane login", or set'],
    ['third', 'You are not signed in as profile "third". Run "framelane login --profile third"'],
    ['constructor', 'You are not signed in as profile "constructor"'],
  ])('is an error that says what to do without a profile (%p)', (named, message) => {
    expect(() => chooseConnection(named, {}, {})).toThrow(message);
  });
});

test.each([
  ['https://video.test', 'https://video.test/v1'],
  ['https://video.test/', 'https://video.test/v1'],
  ['http://localhost:8080/v1/', 'http://localhost:8080/v1'],
  ['https://video.test/framelane', 'https://video.test/framelane/v1'],
])('the API of %s is at %s', (given, expected) => {
  expect(readBaseUrl(given)).toBe(expected);
});

test.each(['video.test', 'ftp://video.test', ''])('%p is not the URL of an installation', (given) => {
  expect(() => readBaseUrl(given)).toThrow('is not a URL of an installation');
});
