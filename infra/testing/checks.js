import { runStep } from '../bootstrap/run.js';
import { runAcceptance } from './acceptance-check.js';
import { tryComposedSystem } from './composed-system.js';
import { runJest } from './jest-check.js';
import { withS3Server } from './s3-server.js';

/** A check that passes or fails as a whole. */
function command(program, ...args) {
  return async () =>
    (await runStep(program, args)) === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/**
 * Everything `npm test` checks, in order. Each `run` resolves with how much passed and failed, and prints why.
 */
export const CHECKS = [
  { name: 'style', title: 'Formatting and lint', run: command('biome', 'ci', '--error-on-warnings', '.') },
  {
    name: 'imports',
    title: 'Import rules',
    run: command('depcruise', '--config', '.dependency-cruiser.cjs', 'services', 'packages'),
  },
  { name: 'types', title: 'Types', run: command('tsc', '--noEmit') },
  {
    name: 'api',
    title: 'OpenAPI description',
    run: command('npm', 'run', '--silent', '--prefix', 'openapi', 'lint'),
  },
  {
    name: 'drift',
    title: 'Generated files are up to date',
    run: command('npm', 'run', '--silent', '--prefix', 'openapi', 'check'),
  },
  { name: 'unit', title: 'Unit tests', run: () => runJest('unit') },
  {
    name: 'integration',
    title: 'Integration tests (PostgreSQL, ffmpeg)',
    run: () => withS3Server((env) => runJest('integration', env)),
  },
  { name: 'acceptance', title: 'Acceptance tests against a started single node', run: runAcceptance },
  {
    name: 'faults',
    title: 'Fault suite against clusters of processes',
    // One cluster at a time: they need the processors. What a failed test left open does not keep the run from ending.
    run: () => runJest('faults', {}, ['--runInBand', '--forceExit']),
  },
  { name: 'compose', title: 'The system of docker-compose.yml', run: tryComposedSystem },
];
