import { runStep } from '../bootstrap/run.js';
import { report } from '../bootstrap/terminal.js';

/** Tries docker-compose.yml out where COMPOSE_COMMAND says with what; unasked it would take too long. */
export async function tryComposedSystem() {
  if (!process.env.COMPOSE_COMMAND) {
    report(
      'Left out. Set COMPOSE_COMMAND, to "docker compose" for example, to have it brought up and tried out.',
    );
    return { passed: 0, failed: 0 };
  }
  const code = await runStep(process.execPath, ['infra/compose-check/main.js']);
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}
