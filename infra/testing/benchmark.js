import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import startPostgres from './postgres-setup.js';
import stopPostgres from './postgres-teardown.js';

/**
 * `node infra/testing/benchmark.js <file> [options]` runs a benchmark. As for the integration tests, TEST_DATABASE_URL names its PostgreSQL. If
 * it is not set, this program starts a PostgreSQL and sets it.
 */
const [, , file] = process.argv;
if (file === undefined) throw new Error('Name the file of the benchmark');
// The benchmark reads its options from argv.
process.argv.splice(1, 1);
await startPostgres();
try {
  await import(pathToFileURL(resolve(file)).href);
} finally {
  await stopPostgres();
}
