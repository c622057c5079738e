/**
 * Unit tests are beside the file that they test. Tests that need PostgreSQL, RabbitMQ, ffmpeg or a running service are in the tests/ of
 * their workspace.
 */
const shared = {
  // Node loads the tests, without jest's runtime: see ADR 55.
  runtime: '<rootDir>/infra/testing/plain-node/runtime.js',
  testEnvironment: '<rootDir>/infra/testing/plain-node/environment.js',
  transform: {},
  // Node's own streams and sockets use `process.nextTick`.
  fakeTimers: { doNotFake: ['nextTick'] },
  // The dist/ folder of a built package has a second package.json with the same `name`, which jest would report as a duplicate.
  modulePathIgnorePatterns: ['<rootDir>/packages/[^/]+/dist/'],
};

export default {
  // For a machine with two processors: one more, because tests often wait for a program, a timeout or the database.
  maxWorkers: 3,
  // On a busy machine a worker needs longer than the default of 500 ms to end, and jest then takes it for one that hangs.
  workerGracefulExitTimeout: 10_000,
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
      // Tests the single node that infra/testing/acceptance-check.js starts; see packages/acceptance/src/target.ts.
      ...shared,
      displayName: 'acceptance',
      testMatch: ['<rootDir>/packages/acceptance/tests/**/*.test.ts'],
    },
  ],
};
