import { rm } from 'node:fs/promises';
import { dropTemplate } from '../../services/control-plane/tests/support/database.ts';

/** Jest's globalTeardown: removes what postgres-setup.js has created. */
export default async function stopPostgres() {
  try {
    await dropTemplate(process.env.TEST_DATABASE_TEMPLATE);
  } finally {
    if (globalThis.testPostgres) {
      const { postgres, directory } = globalThis.testPostgres;
      await postgres.stop();
      await rm(directory, { recursive: true });
    }
  }
}
