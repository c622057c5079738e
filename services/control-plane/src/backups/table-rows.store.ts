import { sql } from 'kysely';
import { readInBatches } from '../db/cursor.ts';
import type { Database } from '../db/database.ts';

/** A table and its columns, in the order of their values in a row. `type` is that of PostgreSQL. */
export type Table = { name: string; columns: { name: string; type: string }[] };

/** A row as text: a JSON array with the values as PostgreSQL writes them, or null. */
export type RowText = string;

/**
 * What a backup leaves out: the migrations, which a restore runs itself; what the running processes say about themselves; the
 * backups of this database; sign-ins, so that a backup signs nobody in; the requests of the last days; and what could tell viewers apart: the reports of
 * single playbacks, whose tables are partitions, and the salts.
 */
const LEFT_OUT = [
  ...['kysely_migration', 'kysely_migration_lock'],
  ...['engines', 'maintenance_steps', 'backup_state'],
  ...['console_codes', 'console_sessions'],
  ...['request_log', 'request_log_sizes'],
  ...['view_changes', 'viewer_changes', 'view_salts'],
];

/** Rows that one query reads. Some have an image of a few megabytes. */
const ROWS_AT_ONCE = 20;

/** Text of rows that one statement inserts. */
const INSERTED_CHARACTERS = 2 ** 20;

/** The tables that a backup has. */
export async function findTables(db: Database): Promise<Table[]> {
  const { rows } = await sql<Table>`
    select relname as name,
      json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod)) order by attnum) as columns
    from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and not relispartition
      and attnum > 0 and not attisdropped and attgenerated = ''
    group by relname order by relname collate "C"`.execute(db);
  return rows.filter(({ name }) => !LEFT_OUT.includes(name));
}

/** Makes PostgreSQL write and read values in the same way, whatever the settings of the role are. */
export async function useTextOfBackups(trx: Database): Promise<void> {
  await sql`set local datestyle = 'ISO, YMD'`.execute(trx);
  await sql`set local timezone = 'UTC'`.execute(trx);
  await sql`set local extra_float_digits = 1`.execute(trx);
  await sql`set local bytea_output = 'hex'`.execute(trx);
}

/** All rows of a table. */
export async function* rowsOf(trx: Database, { name, columns }: Table): AsyncGenerator<RowText, void> {
  const values = sql.join(columns.map((column) => sql`${sql.ref(column.name)}::text`));
  const query = sql<{ row: RowText }>`select to_json(array[${values}])::text as row from ${sql.table(name)}`;
  for await (const batch of readInBatches(trx, name, query, ROWS_AT_ONCE)) {
    for (const { row } of batch) yield row;
  }
}

/** Inserts rows that `rowsOf` has written, and resolves with their number. */
export async function insertRows(trx: Database, table: Table, rows: AsyncIterable<RowText>): Promise<number> {
  let [count, characters] = [0, 0];
  let batch: RowText[] = [];
  for await (const row of rows) {
    batch.push(row);
    characters += row.length;
    if (characters < INSERTED_CHARACTERS) continue;
    count += await insertBatch(trx, table, batch);
    [batch, characters] = [[], 0];
  }
  return batch.length === 0 ? count : count + (await insertBatch(trx, table, batch));
}

async function insertBatch(trx: Database, { name, columns }: Table, rows: RowText[]): Promise<number> {
  const names = sql.join(columns.map((column) => sql.ref(column.name)));
  const values = sql.join(
    columns.map(({ type }, index) => sql`(row ->> ${sql.lit(index)})::${sql.raw(type)}`),
  );
  await sql`
    insert into ${sql.table(name)} (${names})
    select ${values} from json_array_elements(${`[${rows.join(',')}]`}::json) row`.execute(trx);
  return rows.length;
}

/** The first of these tables that has a row. */
export async function findFilledTable(db: Database, tables: readonly Table[]): Promise<string | undefined> {
  for (const { name } of tables) {
    const { rows } = await sql`select from ${sql.table(name)} limit 1`.execute(db);
    if (rows.length > 0) return name;
  }
  return undefined;
}

/** Keeps all others from these tables until the end of the transaction. */
export async function lockTables(trx: Database, tables: readonly Table[]): Promise<void> {
  const names = sql.join(tables.map(({ name }) => sql.table(name)));
  await sql`lock table ${names} in access exclusive mode`.execute(trx);
}

/** Runs `work` without foreign keys, so that the tables can be filled in any order. Afterwards all rows must satisfy them. */
export async function withoutForeignKeys(trx: Database, work: () => Promise<void>): Promise<void> {
  const { rows: keys } = await sql<{ table: string; name: string; definition: string }>`
    select relname as table, conname as name, pg_get_constraintdef(pg_constraint.oid) as definition
    from pg_constraint join pg_class on pg_class.oid = conrelid
    where contype = 'f' and relnamespace = current_schema()::regnamespace`.execute(trx);
  for (const { table, name } of keys) {
    await sql`alter table ${sql.table(table)} drop constraint ${sql.ref(name)}`.execute(trx);
  }
  await work();
  for (const { table, name, definition } of keys) {
    await sql`alter table ${sql.table(table)} add constraint ${sql.ref(name)} ${sql.raw(definition)}`.execute(
      trx,
    );
  }
}

/**
 * Disables all webhooks, and ends their open deliveries as `EndpointsService` does: the installation of the backup has sent them, or sends
 * them still. Resolves with the number of webhooks.
 */
export async function disableWebhooks(trx: Database): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('webhook_endpoints')
    .set({ enabled: false, disabled_reason: 'manual' })
    .where('enabled', '=', true)
    .executeTakeFirstOrThrow();
  await trx
    .updateTable('webhook_deliveries')
    .set({ status: 'failed', next_attempt_at: null, claimed_until: null, failure: 'webhook_disabled' })
    .where('next_attempt_at', 'is not', null)
    .execute();
  return Number(numUpdatedRows);
}
