import { runStep } from '../bootstrap/run.js';
import { runAcceptance } from './acceptance-check.js';
import { checkComposedSystem } from './composed-system.js';
import { runJest } from './jest-check.js';
import { withS3Server } from './s3-server.js';

/** A check that passes or fails as a whole. */
function command(program, ...args) {
  return async (output) =>
    (await runStep(program, args, output)) === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

const INTEGRATION_ARGS = [
  // Even on two processors: the tests often wait for programs, timeouts and leases.
  '--maxWorkers=4',
  '--testSequencer=./infra/testing/integration-sequencer.js',
];

// The acceptance tests and the fault suite run at the same time, with browsers and dozens of services. More workers make both slower.
const ACCEPTANCE_ARGS = ['--maxWorkers=2'];
const FAULT_ARGS = [
  '--maxWorkers=3',
  '--testSequencer=./infra/testing/fault-sequencer.js',
  // A failed test may leave sockets open, which would keep the run from ending.
  '--forceExit',
];

/** The checks that need no database, no ffmpeg and no running node. */
const FIRST_CHECKS = [
  { name: 'style', title: 'Formatting and lint', run: command('biome', 'ci', '--error-on-warnings', '.') },
  {
    name: 'imports',
    title: 'Import rules',
    run: command('depcruise', '--config', '.dependency-cruiser.cjs', 'services', 'packages'),
  },
  // Several checkers check many types more than once.
  { name: 'types', title: 'Types', run: command('tsc', '--noEmit', '--checkers', '1') },
  {
    name: 'page-types',
    title: 'Types of the player page',
    run: command('tsc', '--noEmit', '--project', 'services/player'),
  },
  {
    name: 'console-types',
    title: 'Types of the console',
    run: command('tsc', '--noEmit', '--project', 'services/console'),
  },
  {
    name: 'docs-types',
    title: 'Types of the docs site',
    run: command('tsc', '--noEmit', '--project', 'services/docs-site'),
  },
  {
    name: 'element-types',
    title: 'Types of the elements',
    run: command('tsc', '--noEmit', '--project', 'packages/elements'),
  },
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
  { name: 'unit', title: 'Unit tests', run: (output) => runJest('unit', { output }) },
];

const EXPRESSIONS = {
  name: 'expressions',
  title: 'Regular expressions take linear time',
  run: command('node', 'infra/expressions/main.js'),
};

/**
 * All checks of `npm test`. The stages run one after another, the checks of a stage at the same time; `inBackground` means that the next
 * stages do not wait for the end of the check. Each `run` prints failures and resolves with how many tests passed and failed. It receives
 * options of `runStep`, for the output.
 */
export const STAGES = [
  [
    ...FIRST_CHECKS,
    // Takes longer than the others.
    { ...EXPRESSIONS, inBackground: true },
    // Takes as long as the next stage, but mostly waits: for packages, builds of images and services.
    {
      name: 'compose',
      title: 'The system of docker-compose.yml',
      inBackground: true,
      run: checkComposedSystem,
    },
  ],
  [
    {
      name: 'integration',
      title: 'Integration tests (PostgreSQL, ffmpeg)',
      run: (output) => withS3Server((env) => runJest('integration', { env, args: INTEGRATION_ARGS, output })),
    },
  ],
  [
    {
      name: 'acceptance',
      title: 'Acceptance tests against a started single node',
      run: (output) => runAcceptance({ args: ACCEPTANCE_ARGS, output }),
    },
    {
      name: 'faults',
      title: 'Fault suite against clusters of processes',
      run: (output) => runJest('faults', { args: FAULT_ARGS, output }),
    },
  ],
];

/** The checks of `npm test -- --quick`. */
export const QUICK_STAGES = [
  [...FIRST_CHECKS, EXPRESSIONS],
  [
    {
      name: 'integration',
      title: 'Integration tests of the control plane (PostgreSQL)',
      run: () =>
        runJest('integration', {
          args: [...INTEGRATION_ARGS, '--testPathPatterns', 'services/control-plane/tests'],
        }),
    },
  ],
  [
    {
      name: 'acceptance',
      title: 'One end-to-end test, from upload to playback, against a started single node',
      run: () => runAcceptance({ args: ['--testPathPatterns', 'happy-path'] }),
    },
  ],
];
