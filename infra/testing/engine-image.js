import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildFrontEnd } from '../../packages/web-build/src/build.ts';
import { FRONT_ENDS, folderOf } from '../../packages/web-build/src/front-ends.ts';
import { ROOT } from '../bootstrap/project.js';
import { runStep } from '../bootstrap/run.js';
import { INITIAL_HEAP } from './jest-check.js';

/**
 * `pnpm test:engine-image [pattern …]` runs the integration tests of the engine, or those whose path matches a pattern, in a container
 * of the engine's image, with its ffmpeg (ADR 56). CONTRIBUTING.md says how to build the image first. ENGINE_IMAGE names another image,
 * CONTAINER_COMMAND another program than `docker`.
 */
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const { CONTAINER_COMMAND, ENGINE_IMAGE, FRAMELANE_TAG } = process.env;
const [containers, ...prefix] = (CONTAINER_COMMAND || 'docker').split(/\s+/);
const image = ENGINE_IMAGE || `framelane/engine:${FRAMELANE_TAG || version}`;
const patterns = process.argv.slice(2);

const cache = join(ROOT, 'node_modules/.cache');

// The container runs as root, and what it creates in the checkout would belong to root.
mkdirSync(cache, { recursive: true });
for (const page of FRONT_ENDS) await buildFrontEnd(folderOf(page));
process.exitCode = await runStep(containers, [
  ...[...prefix, 'run', '--rm', '--init'],
  // Those that are set here.
  ...['CI', 'DAMAGED_FILES', 'PROPERTY_SEED'].flatMap((name) => ['--env', name]),
  // bubblewrap needs the privileges. Only root can run PostgreSQL and ffmpeg under accounts of their own.
  ...['--privileged', '--user', '0'],
  ...['--volume', `${ROOT}:${ROOT}`, '--workdir', ROOT, '--tmpfs', cache],
  ...['--entrypoint', 'node_modules/node/bin/node', image],
  ...[INITIAL_HEAP, 'node_modules/jest/bin/jest.js', '--selectProjects', 'integration', '--maxWorkers=3'],
  ...['--testPathPatterns', ...(patterns.length > 0 ? patterns : ['services/engine/tests'])],
]);
