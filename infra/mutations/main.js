import { globSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { readCommandLine } from '../testing/command-line.js';
import startPostgres from '../testing/postgres-setup.js';
import stopPostgres from '../testing/postgres-teardown.js';
import { GROUPS } from './groups.js';
import { sampleMutants } from './mutators.js';

const HELP = `pnpm test:mutations [--force] [--sample <percent>] [--processes <n>] [<group> …]

Changes the code of a group in one place at a time, and runs the tests that reach the
place. A change that no test notices survives. Prints the survivors and the score of
each group: the part of the changes that tests noticed. Fails when a score is below the
group's threshold. Without names it tests all groups, which takes hours:

${GROUPS.map(({ name, threshold, mutate: [first, second] }) => `  ${name.padEnd(18)} ${threshold} %  ${first}${second ? ', …' : ''}`).join('\n')}

  --force            tests every change again. Without it, stored results in .mutations/ are
                     reused where the code and its tests have not changed since. Changes in
                     other files are not detected.
  --sample <percent> tests only this percentage of the changes, evenly chosen: an estimate
                     of the score in less time
  --processes <n>    runs the tests of that many changes at once; 2 by default

Groups with a database use the PostgreSQL of TEST_DATABASE_URL, or start their own.
`;

const { options, names } = readCommandLine({
  options: {
    force: { type: 'boolean', default: false },
    sample: { type: 'string', default: '100' },
    processes: { type: 'string', default: '2' },
  },
  kind: 'group',
  known: ({ sample, processes }) => {
    if (!(Number(sample) > 0 && Number(sample) <= 100))
      throw new Error('--sample is a number above 0 and up to 100');
    if (!/^[1-9]\d*$/.test(processes)) throw new Error('--processes is a number from 1 on');
    return GROUPS.map(({ name }) => name);
  },
  help: HELP,
});
process.exitCode = await testGroups(GROUPS.filter(({ name }) => names.includes(name)));

/** Resolves with the exit code. */
async function testGroups(groups) {
  sampleMutants(Number(options.sample));
  const needDatabase = groups.some(({ database }) => database);
  if (needDatabase) await startPostgres();
  try {
    const summaries = [];
    for (const group of groups) summaries.push(summarise(group, await testGroup(group)));
    for (const { line, survivors } of summaries) console.log([line, ...survivors].join('\n'));
    return summaries.every(({ passed }) => passed) ? 0 : 1;
  } finally {
    if (needDatabase) await stopPostgres();
  }
}

/** Resolves with every mutant of a group and what became of it. */
async function testGroup({ name, mutate, tests, database = false }) {
  // For jest.config.js, which the processes of the runner read.
  process.env.MUTATION_TESTS = JSON.stringify(tests);
  const mutants = await new Stryker({
    mutate,
    // An empty column name or operator is an error of SQL, which any test notices: it would only raise the score.
    mutator: { excludedMutations: database ? ['StringLiteral'] : [] },
    // Leaves out changes of code that only runs before the tests, such as constants of a module: each would need all tests of the group.
    ignoreStatic: database,
    ignorers: ['messages'],
    plugins: ['@stryker-mutator/jest-runner', ...['test-runner.js', 'ignore-messages.js'].map(here)],
    // Stryker would rewrite the paths of tsconfig.json with the API of the TypeScript compiler, which version 7 does not have.
    tsconfigFile: 'none',
    testRunner: 'jest-by-file',
    testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    jest: {
      projectType: 'custom',
      configFile: 'infra/mutations/jest.config.js',
      enableFindRelatedTests: false,
    },
    coverageAnalysis: 'perTest',
    concurrency: Number(options.processes),
    // Added to twice the usual duration of the tests: a machine with other work may need more time.
    timeoutMS: database ? 10_000 : 4_000,
    timeoutFactor: 2,
    // A sample would replace the stored results of the other changes.
    incremental: options.sample === '100',
    incrementalFile: `.mutations/${name}.json`,
    force: options.force,
    // Not in the project: other tools would find the copies there.
    tempDirName: join(tmpdir(), 'framelane-mutations'),
    cleanTempDir: 'always',
    // Pages that another process is building: their folder is renamed meanwhile.
    ignorePatterns: ['.unfinished-*'],
    reporters: [process.stdout.isTTY ? 'progress' : 'progress-append-only'],
    logLevel: 'error',
    allowConsoleColors: false,
  }).runMutationTest();
  // The stored results also have the files that have left the group.
  const files = new Set(globSync(mutate).map((file) => resolve(file)));
  return mutants.filter(({ fileName }) => files.has(resolve(fileName)));
}

function here(file) {
  return resolve(import.meta.dirname, file);
}

function summarise({ name, threshold }, mutants) {
  const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const detected = count('Killed', 'Timeout');
  const survivors = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const tested = detected + survivors.length;
  // A small sample may have no change of a small group.
  if (tested === 0) {
    const passed = options.sample !== '100';
    return { passed, line: `${passed ? '✓' : '✗'} ${name}: no change was tested`, survivors: [] };
  }
  const score = (100 * detected) / tested;
  const passed = score >= threshold;
  const counts = [
    `${count('Killed')} killed`,
    `${count('Timeout')} timed out`,
    `${count('Survived')} survived`,
    `${count('NoCoverage')} not reached`,
  ];
  return {
    passed,
    line: `${passed ? '✓' : '✗'} ${name}: ${score.toFixed(1)} % (at least ${threshold} %): ${counts.join(', ')}`,
    survivors: survivors.map(describe),
  };
}

/** The file, the line and the change of a survivor. */
function describe({ fileName, location: { start, end }, replacement, status }) {
  const lines = readFileSync(fileName, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line);
  lines.push(lines.pop().slice(0, end.column - 1));
  const original = [lines[0].slice(start.column - 1), ...lines.slice(1)].join('\n');
  const reached = status === 'NoCoverage' ? ' (not reached)' : '';
  return `    ${relative('.', fileName)}:${start.line}${reached}: ${short(original)} → ${short(replacement)}`;
}

function short(code) {
  const line = code.replace(/\s+/g, ' ');
  return line.length > 90 ? `${line.slice(0, 50)} … ${line.slice(-35)}` : line;
}
