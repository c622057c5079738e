import type { Database } from './database.ts';

/**
 * Called by a service with the outcome of what it was asked to do, last in the transaction of the effect: what is noted
 * is committed with the effect, and when noting throws, there is no effect.
 */
export type NoteOutcome<T> = (trx: Database, outcome: T) => Promise<void>;
