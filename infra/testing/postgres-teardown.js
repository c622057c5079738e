import { rm } from 'node:fs/promises';

/** Jest's globalTeardown: ends what postgres-setup.js started, and only that. */
export default async function stopPostgres() {
  if (!globalThis.testPostgres) return;
  const { postgres, directory } = globalThis.testPostgres;
  await postgres.stop();
  await rm(directory, { recursive: true });
}
