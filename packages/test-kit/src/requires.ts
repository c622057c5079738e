import { describe, test } from '@jest/globals';

/** Names of requirements, separated by commas, without which tests are skipped even if CI is true. */
const MAY_SKIP = (process.env.TESTS_MAY_SKIP ?? '').split(',');

/**
 * The `test` and `describe` for tests that need something of the machine, such as a program. If it is missing, they skip their tests.
 * One more test names what is missing: it skips as well, or fails when CI is "true". A module that several test files import calls this
 * once, so only the first of them has that test.
 *
 * @param obstacle why the machine does not have it; null if it has.
 */
export function requires(
  what: string,
  obstacle: string | null,
): {
  isMet: boolean;
  test: typeof test | typeof test.skip;
  describe: typeof describe | typeof describe.skip;
} {
  if (obstacle === null) return { isMet: true, test, describe };
  const fails = process.env.CI === 'true' && !MAY_SKIP.includes(what);
  (fails ? test : test.skip)(`requires ${what}: ${obstacle}`, () => {
    throw new Error(`${obstacle}. Install it, or set TESTS_MAY_SKIP="${what}" to run without it.`);
  });
  return { isMet: false, test: test.skip, describe: describe.skip };
}
