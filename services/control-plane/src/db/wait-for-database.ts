import { reasonOf } from '@framelane/service-kit/reason';
import { SettingsError } from '@framelane/service-kit/settings';
import { untilAvailable, type Wait } from '@framelane/service-kit/until-available';
import { type Database, databaseTime } from './database.ts';
import { isDatabaseUnavailable, isTooSlow } from './database-unavailable.ts';

type Waiting = Omit<Wait, 'setting'>;

/** Runs work of a start, and repeats it while the database is unavailable. The work may have taken effect before it is repeated. */
export function untilDatabase<T>(work: () => Promise<T>, waiting: Waiting): Promise<T> {
  return untilAvailable(work, { ...waiting, setting: 'DATABASE_URL' }, isTemporary);
}

/**
 * Waits until the database accepts connections. Throws a SettingsError if it refuses them, such as for a wrong password or the name of
 * a database that does not exist: only a change of the setting or of the database solves this.
 */
export async function waitForDatabase(db: Database, waiting: Waiting): Promise<void> {
  try {
    await untilDatabase(() => databaseTime(db), waiting);
  } catch (error) {
    waiting.signal.throwIfAborted();
    throw new SettingsError(`DATABASE_URL: cannot connect to this database (${reasonOf(error)})`, {
      cause: error,
    });
  }
}

function isTemporary(error: unknown): boolean {
  if (isDatabaseUnavailable(error) || isTooSlow(error)) return true;
  return error instanceof Error && error.cause !== undefined && isTemporary(error.cause);
}
