import { type RawBuilder, sql } from 'kysely';

/** Rows that are due: how many, and for how many seconds the first of them has been (0 when there is none). */
export type Backlog = { count: number; oldestSeconds: number };

/** A time by the clock of the database, which judges every lease, claim and due time. */
export function inSeconds(seconds: number): RawBuilder<Date> {
  return sql<Date>`now() + make_interval(secs => ${seconds})`;
}

/** Seconds from then to now; 0 when it is in the future, or null. */
export function secondsSince(time: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`greatest(extract(epoch from now() - ${time}), 0)::float8`;
}

/** Whether a row is due that nobody has claimed, or whose claim has expired. */
export function isDue(due: string, claimedUntil: string): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(due)} <= now()
    and (${sql.ref(claimedUntil)} is null or ${sql.ref(claimedUntil)} <= now()))`;
}
