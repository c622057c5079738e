import { expect, test } from '@jest/globals';
import { assertSupportedVersion } from './server-version.ts';

test.each(['15.0', '15.18 (Debian 15.18-0+deb12u1)', '18.1', '19beta1'])('%s is supported', (version) => {
  expect(() => assertSupportedVersion(version)).not.toThrow();
});

test.each(['14.22', '9.6.24', '14beta2'])('%s is refused with the version that is needed', (version) => {
  expect(() => assertSupportedVersion(version)).toThrow(
    `The database server is PostgreSQL ${version}. Framelane needs PostgreSQL 15 or newer.`,
  );
});

test('a server of another make, which states no number, is tried', () => {
  expect(() => assertSupportedVersion('unknown')).not.toThrow();
});
