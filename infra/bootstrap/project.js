import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the checkout. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** The Node that Framelane runs on. pnpm installs it; another Node may run the bootstrap. */
export const PROJECT_NODE = join(ROOT, 'node_modules', 'node', 'bin', 'node');
