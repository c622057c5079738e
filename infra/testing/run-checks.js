import { join } from 'node:path';
import { ROOT } from '../bootstrap/project.js';
import { QUICK_STAGES, STAGES } from './checks.js';
import { readCommandLine } from './command-line.js';

const HELP = `npm test [-- [--quick] <check> …]

Runs all checks, or only the named ones:

${STAGES.flat()
  .map(({ name, title }) => `  ${name.padEnd(12)} ${title}`)
  .join('\n')}

  --quick      runs the checks from "style" to "unit", the integration tests of the
               control plane, and one end-to-end test, from upload to playback

The last line is the number of passed and failed tests. Environment variables:

  TEST_DATABASE_URL   PostgreSQL server for the integration tests: a URL with a
                      superuser. Without it the tests start their own.
  AMQP_URL            RabbitMQ for the tests of the message bus, in a virtual host of
                      their own: they delete its queues.
  S3_TEST_ENDPOINT, S3_TEST_REGION, S3_TEST_ACCESS_KEY_ID, S3_TEST_SECRET_ACCESS_KEY
                      S3 server for the tests of the object store, and for some files
                      of the fault suite
  COMPOSE_COMMAND     for example "docker compose": also tests docker-compose.yml
  CI=true             fails, instead of skips, tests that need something this machine
                      does not have, such as Chromium
  TESTS_MAY_SKIP      names of what may be missing with CI=true, separated by commas, for
                      example "containers"; skipped tests show them
  LONG=yes            also runs the fault tests that take minutes
  PROPERTY_SEED       seed of the tests with random input: a number, or "random".
                      Without it every run uses the same.
`;

const FAILURE_LINES = 16;
const FAILURE_COLUMNS = 200;

// Halves the time in which the tests' services start.
process.env.NODE_COMPILE_CACHE ??= join(ROOT, 'node_modules/.cache/node-compile');

const namesOf = (stages) => stages.flat().map(({ name }) => name);
const stagesOf = ({ quick }) => (quick ? QUICK_STAGES : STAGES);
const { options, names } = readCommandLine({
  options: { quick: { type: 'boolean' } },
  kind: 'check',
  known: (values) => namesOf(stagesOf(values)),
  help: HELP,
});
process.exitCode = await runStages(
  stagesOf(options).map((stage) => stage.filter(({ name }) => names.includes(name))),
);

/** Runs the stages one after another, also after a failure. Resolves with the exit code. */
async function runStages(stages) {
  const results = [];
  const background = [];
  const checks = stages.flat();
  const width = Math.max(...checks.map(({ name }) => name.length));
  const start = (check) => runCheck(check, checks.length === 1 ? {} : { onLine: withName(check, width) });
  for (const stage of stages) {
    if (stage.length > 0)
      printHeading(stage.length === 1 ? stage[0].title : stage.map(({ name }) => name).join(', '));
    background.push(...stage.filter(({ inBackground }) => inBackground).map(start));
    results.push(...(await Promise.all(stage.filter(({ inBackground }) => !inBackground).map(start))));
  }
  results.push(...(await Promise.all(background)));
  for (const failure of results.flatMap(({ failures }) => failures ?? []))
    console.log(`\n${beginning(failure)}`);
  console.log(`\n${results.map(describe).join('\n')}\n`);
  const sum = (count) => results.reduce((total, result) => total + result[count], 0);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  return sum('failed') === 0 ? 0 : 1;
}

/** The first lines of a failure, short enough that the list of all failures can be read at the end of a long output. */
function beginning(failure) {
  const lines = failure.split('\n').filter((line) => line.trim() !== '' && !line.includes('/node_modules/'));
  const shown = lines.slice(0, FAILURE_LINES).map((line) => line.slice(0, FAILURE_COLUMNS));
  return [`✗ ${shown[0]}`, ...shown.slice(1).map((line) => `    ${line}`)].join('\n');
}

function printHeading(title) {
  console.log(`\n── ${title} ${'─'.repeat(Math.max(3, 74 - title.length))}`);
}

/** Prints lines of a check that runs beside others. */
function withName({ name }, width) {
  return (line) => console.log(`${name.padEnd(width)} │ ${line}`);
}

async function runCheck({ title, run }, output) {
  const begin = performance.now();
  const outcome = await run(output).catch((error) => {
    console.error(error);
    return { passed: 0, failed: 1 };
  });
  const result = { title, seconds: (performance.now() - begin) / 1000, ...outcome };
  console.log(describe(result));
  return result;
}

function describe({ title, seconds, passed, failed }) {
  const counts = failed === 0 ? `${passed} passed` : `${passed} passed, ${failed} FAILED`;
  return `${failed === 0 ? '✓' : '✗'} ${title}: ${counts} in ${seconds.toFixed(1)} s`;
}
