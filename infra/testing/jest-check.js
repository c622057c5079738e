import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ROOT } from '../bootstrap/project.js';
import { runStep } from '../bootstrap/run.js';

/**
 * In MiB. With V8's default of a few MiB, the many buffers of the tests make it collect all garbage every second, which took a seventh of
 * their processor time. jest passes the option to its workers.
 */
export const INITIAL_HEAP = '--initial-old-space-size=256';

/**
 * Runs a project of jest.config.js and counts its tests. An error outside a test counts as a failed test: a file that
 * cannot run, a project without tests, a crash of jest. `failures` has the error messages of each failed test or file.
 * `output` has options of `runStep` for the output.
 */
export async function runJest(project, { env = {}, args = [], output = {} } = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'framelane-jest-'));
  const report = join(directory, 'report.json');
  try {
    const code = await runStep(
      process.execPath,
      [
        INITIAL_HEAP,
        'node_modules/jest/bin/jest.js',
        ...['--selectProjects', project],
        ...['--json', `--outputFile=${report}`],
        ...args,
      ],
      { env: { ...process.env, ...env }, ...output },
    );
    const results = await readReport(report);
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const counted = results.numPassedTests + failed;
    const unexplained = counted === 0 || (code !== 0 && failed === 0);
    if (counted === 0) console.error(`No test of the project ${project} ran.`);
    return {
      passed: results.numPassedTests,
      failed: failed + (unexplained ? 1 : 0),
      failures: failuresOf(results.testResults),
    };
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function readReport(path) {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, numRuntimeErrorTestSuites: 0, testResults: [] };
  }
}

function failuresOf(testResults) {
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(ROOT, name);
    const failedTests = assertionResults.filter(({ status }) => status === 'failed');
    // A file that cannot run has a message and no tests.
    if (assertionResults.length === 0 && message) return [`${file}\n${message}`];
    return failedTests.map(
      ({ fullName, failureMessages }) => `${file}: ${fullName}\n${failureMessages.join('\n')}`,
    );
  });
}
