import { CHECKS } from './checks.js';

const HELP = `npm test [-- <check> …]

Runs all checks, or only those named:

${CHECKS.map(({ name, title }) => `  ${name.padEnd(12)} ${title}`).join('\n')}

The last line says how many passed and failed. Set TEST_DATABASE_URL to run the
integration tests on a PostgreSQL of your own (a superuser's address). Set
S3_TEST_ENDPOINT, S3_TEST_ACCESS_KEY_ID, S3_TEST_SECRET_ACCESS_KEY and
S3_TEST_REGION to run those of the object store on an S3 server of your own.
Set AMQP_URL to run those of the RabbitMQ adapter on a broker of your own, in a
virtual host that nothing else uses: they delete its queues.
Set COMPOSE_COMMAND="docker compose" to have docker-compose.yml tried out.
`;

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !CHECKS.some((check) => check.name === name));
if (wanted.includes('--help')) {
  console.log(HELP);
} else if (unknown.length > 0) {
  console.error(`There is no check named ${unknown.join(', ')}.\n\n${HELP}`);
  process.exitCode = 1;
} else {
  process.exitCode = await runChecks(
    CHECKS.filter(({ name }) => wanted.length === 0 || wanted.includes(name)),
  );
}

/** Runs the checks one after another, whatever the ones before said. Resolves with the exit code. */
async function runChecks(checks) {
  const results = [];
  for (const check of checks) results.push(await runCheck(check));
  console.log(`\n${results.map(describe).join('\n')}\n`);
  const sum = (count) => results.reduce((total, result) => total + result[count], 0);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  return sum('failed') === 0 ? 0 : 1;
}

async function runCheck({ title, run }) {
  console.log(`\n── ${title} ${'─'.repeat(Math.max(3, 74 - title.length))}`);
  const begin = performance.now();
  const outcome = await run().catch((error) => {
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
