import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../packages/single-node/src/postgres/embedded-postgres.ts';
import { buildFrontEnd } from '../../packages/web-build/src/build.ts';
import { FRONT_ENDS, folderOf } from '../../packages/web-build/src/front-ends.ts';
// Only this file and postgres-teardown.js may import test code of a service, because both belong to the test runner.
import { createTemplate } from '../../services/control-plane/tests/support/database.ts';

/**
 * Jest's globalSetup of the integration tests. Builds the pages, and starts one PostgreSQL for all tests, unless
 * TEST_DATABASE_URL names one. Tests create their own databases there, most of them as copies of TEST_DATABASE_TEMPLATE, which has the
 * current schema.
 */
export default async function startPostgres() {
  // Once for all tests, which share the builds.
  for (const page of FRONT_ENDS) await buildFrontEnd(folderOf(page));
  if (!process.env.TEST_DATABASE_URL) await startServer();
  process.env.TEST_DATABASE_TEMPLATE = await createTemplate();
}

async function startServer() {
  const directory = await mkdtemp(join(tmpdir(), 'framelane-tests-'));
  const postgres = await startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    password: 'tests',
    access: 'tests',
  });
  process.env.TEST_DATABASE_URL = postgres.url('postgres');
  globalThis.testPostgres = { postgres, directory };
}
