import { report } from '../bootstrap/terminal.js';
import { runProgramCheck } from './program-check.js';

/** Starts and tests the system of docker-compose.yml, if COMPOSE_COMMAND is set: it takes minutes. `options` are those of `runStep`. */
export async function checkComposedSystem(options) {
  if (!process.env.COMPOSE_COMMAND) {
    const isRequired =
      process.env.CI === 'true' && !process.env.TESTS_MAY_SKIP?.split(',').includes('containers');
    report(
      isRequired
        ? 'COMPOSE_COMMAND is not set. Set it, or set TESTS_MAY_SKIP="containers" to run without it.'
        : 'Skipped. Set COMPOSE_COMMAND, for example to "docker compose", to start and test it.',
    );
    return { passed: 0, failed: isRequired ? 1 : 0 };
  }
  const command = [process.execPath, 'infra/compose-check/main.js'];
  return runProgramCheck('The system of docker-compose.yml', command, options);
}
