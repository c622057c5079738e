import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import { migrator } from '../../src/db/migrations.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/rows');

/**
 * Runs the next migration, then `fixtures/rows/<migration>.sql`, so that every migration meets tables with rows. Resolves with the name of the
 * migration; undefined after the last one. Throws if a table is empty afterwards.
 *
 * Such a file inserts rows into the tables that its migration creates, and rows that the `down` deletes. It may also fill new columns. It
 * changes nothing that the `down` does not undo.
 */
export async function migrateUpWithRows(db: Database): Promise<string | undefined> {
  const { results = [], error } = await migrator(db).migrateUp();
  if (error !== undefined) throw error;
  const migration = results[0]?.migrationName;
  if (migration === undefined) return undefined;
  if ((await migrationsWithRows()).includes(migration)) {
    await sql.raw(await readFile(join(FOLDER, `${migration}.sql`), 'utf8')).execute(db);
  }
  const empty = Object.entries(await readRows(db)).flatMap(([table, rows]) =>
    rows.length === 0 ? table : [],
  );
  if (empty.length > 0) {
    throw new Error(
      `After the migration ${migration}, these tables are empty: ${empty.join(', ')}. Insert rows in tests/fixtures/rows/${migration}.sql.`,
    );
  }
  return migration;
}

/** The names of the migrations that have a file of rows. */
export async function migrationsWithRows(): Promise<string[]> {
  return (await readdir(FOLDER)).map((file) => file.replace(/\.sql$/, ''));
}

/** The rows of every table as JSON, in a fixed order. */
export async function readRows(db: Database): Promise<Record<string, unknown[]>> {
  const tables = await sql<{ name: string }>`
    select tablename as name from pg_tables
    where schemaname = 'public' and tablename not like 'kysely_%'
    order by tablename`.execute(db);
  const rows: Record<string, unknown[]> = {};
  for (const { name } of tables.rows) {
    const found = await sql<{ row: unknown }>`
      select to_jsonb(t) as row from ${sql.table(name)} t order by to_jsonb(t)`.execute(db);
    rows[name] = found.rows.map(({ row }) => row);
  }
  return rows;
}
