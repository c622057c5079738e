import { resolve } from 'node:path';
import { shared } from '../../jest.config.js';

/** Jest's configuration of one group. infra/mutations/main.js sets MUTATION_TESTS. */
export default {
  ...shared,
  rootDir: resolve(import.meta.dirname, '../..'),
  testMatch: JSON.parse(process.env.MUTATION_TESTS).map((file) => `<rootDir>/${file}`),
  testEnvironment: resolve(import.meta.dirname, 'environment.cjs'),
  testTimeout: 60_000,
};
