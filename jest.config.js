/** Unit tests stand beside their file; tests that boot PostgreSQL or run ffmpeg stand in a workspace's tests/. */
const shared = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
};

export default {
  maxWorkers: 2,
  // Tests wait for conditions, on machines that are busy at times; a hang is all this is to find.
  testTimeout: 60_000,
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/{packages,services}/*/src/**/*.test.ts', '<rootDir>/infra/**/*.test.js'],
    },
    {
      ...shared,
      displayName: 'integration',
      testMatch: ['<rootDir>/{packages,services}/!(acceptance)/tests/**/*.test.ts'],
      globalSetup: '<rootDir>/infra/testing/postgres-setup.js',
      globalTeardown: '<rootDir>/infra/testing/postgres-teardown.js',
    },
    {
      // Starts clusters of processes and breaks them: see packages/faults.
      ...shared,
      displayName: 'faults',
      testMatch: ['<rootDir>/packages/faults/tests/**/*.faults.ts'],
    },
    {
      // Runs against the node that infra/testing/acceptance-check.js starts, and finds it in FRAMELANE_*.
      ...shared,
      displayName: 'acceptance',
      testMatch: ['<rootDir>/packages/acceptance/tests/**/*.test.ts'],
    },
  ],
};
