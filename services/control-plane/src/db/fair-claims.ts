import { type RawBuilder, sql } from 'kysely';
import type { Database } from './database.ts';
import { type Backlog, secondsSince } from './due-rows.ts';

/** Due rows of a table, whose owners share the slots for the work. */
export type FairClaim = {
  table: string;
  /** Which rows of the table share these slots, if not all do. The index must have the same condition. */
  among?: RawBuilder<boolean>;
  /** The columns of its primary key. */
  key: readonly string[];
  /** Rows with the same value take turns by the time at which they are due. An index on this column and `due` is needed. */
  group: string;
  due: string;
  /** Whether a row is due and not claimed. */
  isDue: RawBuilder<boolean>;
  /** How many rows of a group are being worked on. */
  running: (group: RawBuilder<string>) => RawBuilder<number>;
  /** Who shares the slots: the workspace of a group. By default the group itself. */
  owner?: (group: RawBuilder<string>) => RawBuilder<string>;
  /** The most rows of a group that may be worked on at the same time, if that is limited. */
  perGroup?: number;
  /** Groups whose rows are left out. */
  except?: readonly string[];
  limit: number;
};

/** The workspace of a video, for a row that takes turns. */
export function workspaceOf(videoId: string): RawBuilder<string> {
  return sql<string>`(select workspace_id from videos where id = ${videoId})`;
}

/**
 * Runs a claim. Claims of one kind take turns, because each counts those before it. A process that loses the database meanwhile delays the
 * next claim until the database ends its transaction.
 */
export function claimInTurn<T>(db: Database, kind: string, claim: (trx: Database) => Promise<T>): Promise<T> {
  const work = async (trx: Database) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`${kind} claims`}, 0))`.execute(trx);
    return claim(trx);
  };
  return db.isTransaction ? work(db) : db.transaction().execute(work);
}

/**
 * Common table expressions for a claim, which begins `with recursive`. The last one, `claimable`, has the keys of the candidates that no
 * other transaction has locked, and locks them. Use it in `claimInTurn`.
 */
export function claimable(claim: FairClaim): RawBuilder<unknown> {
  const key = keyOf(claim);
  return sql`${candidates(claim)}, claimable as (
      select ${key} from ${sql.table(claim.table)}
      where (${key}) in (select ${key} from candidates) and ${claim.isDue}
      for update skip locked
    )`;
}

/**
 * Common table expressions for a statement, which begins `with recursive`. The last one, `candidates`, has the keys of up to `limit` due
 * rows: those of the owners with the fewest running rows first, and of one owner those that have been due for longest. Each row counts as
 * running for the next one.
 *
 * The first expression steps through the index from group to group, and each group is read in the order of the index, which has no key. So
 * the cost depends on the number of groups, `limit` and the claimed rows, however many rows are due, also at the same time. With `=` instead
 * of `between`, PostgreSQL may read an index of all groups by due time, if its statistics are from a time with only one group.
 */
export function candidates(claim: FairClaim): RawBuilder<unknown> {
  const { among = sql`true`, isDue, running, owner = (group) => group, perGroup, except = [], limit } = claim;
  const table = sql.table(claim.table);
  const group = sql.ref(claim.group);
  const due = sql.ref(claim.due);
  const key = keyOf(claim);
  const firstOfGroup = (condition: RawBuilder<boolean>) => sql`
    select ${group} as of_group, ${due} as first_due from ${table}
    where ${due} is not null and ${among} and ${condition}
    order by ${group}, ${due} limit 1`;
  const free =
    perGroup === undefined ? sql`${limit}` : sql`greatest(least(${perGroup} - running, ${limit}), 0)`;
  const ofGroup = sql<string>`waiting.of_group`;
  return sql`waiting as (
      (${firstOfGroup(sql`true`)})
      union all
      select following.* from waiting
      cross join lateral (${firstOfGroup(sql`${group} > waiting.of_group`)}) following
    ), shares as (
      select of_group, ${owner(ofGroup)} as owner, (${running(ofGroup)})::int as running
      from waiting where first_due <= now() and of_group <> all(${except}::text[])
    ), places as (
      select due.*, owner, running_of_owner, running + row_number() over (partition by of_group order by due.first_due, ${key}) as place
      from (select *, sum(running) over (partition by owner) as running_of_owner from shares) shares
      cross join lateral (
        select ${key}, ${due} as first_due from ${table}
        where ${group} between of_group and of_group and ${isDue} and ${among}
        order by ${group}, ${due} limit ${free}
      ) due
    ), candidates as (
      select ${key} from (
        select *, running_of_owner + row_number() over (partition by owner order by place, first_due, ${key}) as turn from places
      ) turns
      order by turn, first_due, ${key} limit ${limit}
    )`;
}

function keyOf({ key }: FairClaim) {
  return sql.join(key.map((column) => sql.ref(column)));
}

/** The due rows, claimed or not, of the groups that have fewer than `perGroup` running rows. The others wait for nothing but their turn. */
export async function findClaimableBacklog(
  db: Database,
  {
    table,
    among = sql`true`,
    group,
    due,
    running,
    perGroup,
  }: Pick<FairClaim, 'table' | 'among' | 'group' | 'due' | 'running'> & { perGroup: number },
): Promise<Backlog> {
  const { rows } = await sql<Backlog>`
    select coalesce(sum(count), 0)::int as count, ${secondsSince(sql`min(oldest)`)} as "oldestSeconds"
    from (
      select ${sql.ref(group)} as of_group, count(*), min(${sql.ref(due)}) as oldest from ${sql.table(table)}
      where ${sql.ref(due)} <= now() and ${among} group by ${sql.ref(group)}
    ) waiting
    where (${running(sql<string>`waiting.of_group`)}) < ${perGroup}`.execute(db);
  return rows[0] ?? { count: 0, oldestSeconds: 0 };
}
