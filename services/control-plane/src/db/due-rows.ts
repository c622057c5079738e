import { type RawBuilder, sql } from 'kysely';

/** The number of due rows, and for how many seconds the oldest has been due; 0 without any. */
export type Backlog = { count: number; oldestSeconds: number };

/** The time `seconds` from now by the clock of the database. This clock decides about every lease, claim and due time. */
export function inSeconds(seconds: number): RawBuilder<Date> {
  return sql<Date>`now() + make_interval(secs => ${seconds})`;
}

/** Seconds since a time; 0 when it is in the future or null. */
export function secondsSince(time: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`greatest(extract(epoch from now() - ${time}), 0)::float8`;
}

/** Whether a row is due and has no claim, or an expired one. */
export function isDue(due: string, claimedUntil: string): RawBuilder<boolean> {
  return sql<boolean>`(${sql.ref(due)} <= now()
    and (${sql.ref(claimedUntil)} is null or ${sql.ref(claimedUntil)} <= now()))`;
}
