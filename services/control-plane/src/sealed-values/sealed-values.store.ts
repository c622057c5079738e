import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/** A column of sealed values. */
export type SealedColumn = {
  table: 'videos' | 'webhook_endpoints' | 'imports';
  /** The primary key. */
  id: 'id' | 'video_id';
  column: string;
};

export type SealedValue = { id: string; sealed: string };

/** The next header after the given one, in byte order, among the values of a column. */
export async function nextHeader(
  db: Database,
  { table, column }: SealedColumn,
  after: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ header: string }>`
    select ${headerOf(column)} as header from ${sql.table(table)}
    where ${sql.ref(column)} is not null and ${headerOf(column)} > ${after}
    order by 1 limit 1`.execute(db);
  return rows[0]?.header;
}

/** Up to `limit` values of a column with this header, ordered by id, after `afterId`. */
export async function findSealed(
  db: Database,
  { table, id, column }: SealedColumn,
  { header, afterId, limit }: { header: string; afterId: string; limit: number },
): Promise<SealedValue[]> {
  const { rows } = await sql<SealedValue>`
    select ${sql.ref(id)} as id, ${sql.ref(column)} as sealed from ${sql.table(table)}
    where ${sql.ref(column)} is not null and ${headerOf(column)} = ${header} and ${sql.ref(id)} > ${afterId}
    order by ${sql.ref(id)} limit ${limit}`.execute(db);
  return rows;
}

/** Replaces a sealed value unless it has changed. Resolves with whether it was replaced. */
export async function replaceSealed(
  db: Database,
  { table, id, column }: SealedColumn,
  value: SealedValue,
  by: string,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update ${sql.table(table)} set ${sql.ref(column)} = ${by}
    where ${sql.ref(id)} = ${value.id} and ${sql.ref(column)} = ${value.sealed}`.execute(db);
  return numAffectedRows === 1n;
}

/** How many values of a column have another header. */
export async function countOthers(
  db: Database,
  { table, column }: SealedColumn,
  header: string,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from ${sql.table(table)}
    where ${sql.ref(column)} is not null and (${headerOf(column)} < ${header} or ${headerOf(column)} > ${header})`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/** The header of a compact JWE, which names the secret. Compared by bytes, as in the index on content keys. */
function headerOf(column: string) {
  return sql`(split_part(${sql.ref(column)}, '.', 1) collate "C")`;
}
