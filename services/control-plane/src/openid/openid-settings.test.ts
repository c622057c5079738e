import { expect, test } from '@jest/globals';
import { isSafeIssuer, openIdSettingsOf } from './openid-settings.ts';

const ALL = {
  OIDC_ISSUER: 'https://id.example.com/',
  OIDC_CLIENT_ID: 'framelane',
  OIDC_CLIENT_SECRET: 'not-a-secret',
  OIDC_NAME: 'Acme',
};

test('all settings or none', () => {
  expect(openIdSettingsOf({})).toBeUndefined();
  expect(openIdSettingsOf(ALL)).toEqual({
    issuer: 'https://id.example.com/',
    clientId: 'framelane',
    clientSecret: 'not-a-secret',
    name: 'Acme',
  });
});

test.each(Object.keys(ALL))('if only %s is missing, the error names it and shows no value', (name) => {
  const half = { ...ALL, [name]: undefined };
  expect(() => openIdSettingsOf(half)).toThrow(
    `${name}: not set. OpenID Connect needs all of OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_NAME, or none.`,
  );
  expect(() => openIdSettingsOf(half)).not.toThrow('not-a-secret');
});

test.each([
  ['https://id.example.com', true],
  ['http://localhost:9000/realms/a', true],
  ['http://127.0.0.1:9000', true],
  ['http://[::1]:9000', true],
  ['http://id.example.com', false],
  ['http://127.0.0.1.example.com', false],
  ['http://localhost.example.com', false],
])('the issuer %s is safe: %p', (issuer, isSafe) => {
  expect(isSafeIssuer(issuer)).toBe(isSafe);
});
