import { runAcceptance } from './acceptance-check.js';
import { checkComposedSystem } from './composed-system.js';
import { runJest } from './jest-check.js';
import { runProgramCheck } from './program-check.js';
import { withS3Server } from './s3-server.js';

/** A check by a program. */
function byProgram(name, title, ...command) {
  return { name, title, run: (output) => runProgramCheck(title, command, output) };
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
  byProgram('style', 'Formatting and lint', 'biome', 'ci', '--error-on-warnings', '.'),
  byProgram(
    'imports',
    'Import rules',
    'depcruise',
    '--config',
    '.dependency-cruiser.cjs',
    'services',
    'packages',
  ),
  // Several checkers check many types more than once.
  byProgram('types', 'Types', 'tsc', '--noEmit', '--checkers', '1'),
  byProgram('page-types', 'Types of the player page', 'tsc', '--noEmit', '--project', 'services/player'),
  byProgram('console-types', 'Types of the console', 'tsc', '--noEmit', '--project', 'services/console'),
  byProgram('docs-types', 'Types of the docs site', 'tsc', '--noEmit', '--project', 'services/docs-site'),
  byProgram('element-types', 'Types of the elements', 'tsc', '--noEmit', '--project', 'packages/elements'),
  byProgram('api', 'OpenAPI description', 'npm', 'run', '--silent', '--prefix', 'openapi', 'lint'),
  byProgram(
    'drift',
    'Generated files are up to date',
    'npm',
    'run',
    '--silent',
    '--prefix',
    'openapi',
    'check',
  ),
  { name: 'unit', title: 'Unit tests', run: (output) => runJest('unit', { output }) },
];

const EXPRESSIONS = byProgram(
  'expressions',
  'Regular expressions take linear time',
  'node',
  'infra/expressions/main.js',
);

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
