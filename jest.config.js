/** Unit tests stand beside their file. Tests that start PostgreSQL or ffmpeg stand in the tests/ of their workspace. */
export const shared = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  // Built packages have the names of their sources.
  modulePathIgnorePatterns: ['<rootDir>/packages/[^/]+/dist/'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
};

export default {
  // One more than two processors, because tests often wait for a program, a timeout or the database.
  maxWorkers: 3,
  // On a busy machine a worker needs longer than the default of 500 ms to end, and jest then takes it for one that hangs.
  workerGracefulExitTimeout: 10_000,
  // Modules of ended test files stay in the heap of a worker, which makes its garbage collection and its `fork` slow. Above this
  // heap size, a new worker runs the next file.
  workerIdleMemoryLimit: '200MB',
  // Tests wait for conditions, also on busy machines. This limit only ends a test that hangs.
  testTimeout: 300_000,
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
      // Starts clusters of processes and injects faults: see packages/faults.
      ...shared,
      displayName: 'faults',
      testMatch: ['<rootDir>/packages/faults/tests/**/*.faults.ts'],
      globalSetup: '<rootDir>/infra/testing/faults-setup.js',
      globalTeardown: '<rootDir>/infra/testing/faults-teardown.js',
    },
    {
      // Tests the node that infra/testing/acceptance-check.js starts; its addresses are in FRAMELANE_*.
      ...shared,
      displayName: 'acceptance',
      testMatch: ['<rootDir>/packages/acceptance/tests/**/*.test.ts'],
    },
  ],
};
