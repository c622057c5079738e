import { rm } from 'node:fs/promises';

/** Jest's globalTeardown: stops the PostgreSQL that postgres-setup.js started. */
export default async function stopPostgres() {
  if (!globalThis.testPostgres) return;
  const { postgres, directory } = globalThis.testPostgres;
  await postgres.stop();
  await rm(directory, { recursive: true });
}
