import { runStep } from '../bootstrap/run.js';
import { report } from '../bootstrap/terminal.js';

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
  const code = await runStep(process.execPath, ['infra/compose-check/main.js'], options);
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}
