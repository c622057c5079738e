import { ROOT } from '../bootstrap/project.js';
import { runStep } from '../bootstrap/run.js';
import { INITIAL_HEAP } from './jest-check.js';

/**
 * `pnpm test:engine-image [pattern …]` runs the integration tests of the engine, or those whose path matches a pattern, in a container
 * of the engine's image, with its ffmpeg (ADR 56). Build the image first, with `docker compose build`. ENGINE_IMAGE names another image, CONTAINER_COMMAND
 * another program than `docker`.
 */
const { CONTAINER_COMMAND, ENGINE_IMAGE, FRAMELANE_TAG } = process.env;
const [containers, ...prefix] = (CONTAINER_COMMAND || 'docker').split(/\s+/);
const image = ENGINE_IMAGE || `framelane/engine:${FRAMELANE_TAG || '0.1.0'}`;
const patterns = process.argv.slice(2);

process.exitCode = await runStep(containers, [
  ...[...prefix, 'run', '--rm', '--init'],
  // bubblewrap needs the privileges. Only root can run PostgreSQL and ffmpeg under accounts of their own.
  ...['--privileged', '--user', '0'],
  ...['--volume', `${ROOT}:${ROOT}`, '--workdir', ROOT],
  ...['--entrypoint', 'node_modules/node/bin/node', image],
  ...[INITIAL_HEAP, 'node_modules/jest/bin/jest.js', '--selectProjects', 'integration', '--maxWorkers=3'],
  ...['--testPathPatterns', ...(patterns.length > 0 ? patterns : ['services/engine/tests'])],
]);
