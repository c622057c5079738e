import { expect, test } from '@jest/globals';
import { identityOf } from './identity.ts';

const TENANT = '8eaef023-2b34-4da1-9baa-8bc8c9d6a490';
const ENTRA = `https://login.microsoftonline.com/${TENANT}/v2.0`;
const email = 'ada@example.com';

test.each([
  [ENTRA],
  [`https://login.microsoftonline.us/${TENANT}/v2.0`],
  [`https://login.partner.microsoftonline.cn/${TENANT}/v2.0`],
])('%s may send xms_edov in place of email_verified', (issuer) => {
  for (const xms_edov of [true, 1, '1']) {
    expect(identityOf(issuer, { email, xms_edov, name: 'Ada' })).toEqual({
      email,
      isEmailVerified: true,
      name: 'Ada',
    });
  }
  for (const claims of [{}, { xms_edov: false }, { xms_edov: 0 }, { xms_edov: '0' }, { xms_edov: 'true' }]) {
    expect(identityOf(issuer, { email, ...claims })).toMatchObject({ isEmailVerified: false });
  }
  expect(identityOf(issuer, { email, email_verified: false, xms_edov: true })).toMatchObject({
    isEmailVerified: false,
  });
});

test.each([
  'https://id.example.com',
  `http://login.microsoftonline.com/${TENANT}/v2.0`,
  `https://login.microsoftonline.com.example.com/${TENANT}/v2.0`,
  `https://loginXmicrosoftonline.com/${TENANT}/v2.0`,
  `https://example.com/login.microsoftonline.com/${TENANT}/v2.0`,
  `https://login.microsoftonline.com@example.com/${TENANT}/v2.0`,
  `https://login.microsoftonline.com:8443/${TENANT}/v2.0`,
  'https://login.microsoftonline.com/common/v2.0',
  `${ENTRA}/../x`,
])('%s may not: only email_verified counts', (issuer) => {
  expect(identityOf(issuer, { email, xms_edov: true })).toMatchObject({ isEmailVerified: false });
  expect(identityOf(issuer, { email, email_verified: true, xms_edov: false })).toMatchObject({
    isEmailVerified: true,
  });
});

test('claims of other types are no email address and no name', () => {
  expect(identityOf(ENTRA, { email: [email], email_verified: 'true', name: 1 })).toEqual({
    email: '',
    isEmailVerified: false,
    name: undefined,
  });
});
