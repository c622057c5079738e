import { rm } from 'node:fs/promises';
import { dropTemplate } from '../../services/control-plane/tests/support/database.ts';

/** Jest's globalTeardown: removes what postgres-setup.js has created. */
export default async function stopPostgres() {
  await dropTemplate(process.env.TEST_DATABASE_TEMPLATE);
  if (!globalThis.testPostgres) return;
  const { postgres, directory } = globalThis.testPostgres;
  await postgres.stop();
  await rm(directory, { recursive: true });
}
