import { resolve } from 'node:path';

/**
 * Jest's configuration of one group. infra/mutations/main.js sets MUTATION_TESTS. It uses jest's own runtime, because changes of
 * code that runs when a module is loaded need a new module for each change.
 */
export default {
  rootDir: resolve(import.meta.dirname, '../..'),
  testMatch: JSON.parse(process.env.MUTATION_TESTS).map((file) => `<rootDir>/${file}`),
  testEnvironment: resolve(import.meta.dirname, 'environment.cjs'),
  testTimeout: 60_000,
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/packages/[^/]+/dist/'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
};
