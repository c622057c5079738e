import type { Environment } from './schema.ts';

/** All environments. The first is the default. */
export const ENVIRONMENTS: readonly [Environment, Environment] = ['live', 'test'];
