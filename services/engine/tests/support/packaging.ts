import { PACKAGING_NAMES, type PackagingName } from '@framelane/contracts/packaging';

/** The packaging of all videos of tests that do not ask for one: `TEST_PACKAGING`, or the default of an installation. */
export const TEST_PACKAGING: PackagingName =
  PACKAGING_NAMES.find((name) => name === process.env.TEST_PACKAGING) ?? PACKAGING_NAMES[0];
