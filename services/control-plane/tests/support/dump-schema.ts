import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';

/** The public schema as readable SQL in a fixed order, from PostgreSQL's catalog. */
export async function dumpSchema(db: Database): Promise<string> {
  const tables = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname not like 'kysely_%'
    order by relname`.execute(db);
  const functions = await sql<{ line: string }>`
    select trim(pg_get_functiondef(oid)) || ';' as line from pg_proc
    where pronamespace = 'public'::regnamespace
      and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')
    order by proname`.execute(db);
  const parts = functions.rows.map(({ line }) => line);
  for (const { name } of tables.rows) parts.push(await dumpTable(db, name));
  return `${parts.join('\n\n')}\n`;
}

async function dumpTable(db: Database, table: string): Promise<string> {
  const columns = await sql<{ line: string }>`
    select format('%I %s%s%s', attname, format_type(atttypid, atttypmod),
      case when attnotnull then ' not null' else '' end,
      coalesce(' default ' || pg_get_expr(adbin, adrelid), '')) as line
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
    order by attnum`.execute(db);
  const constraints = await sql<{ line: string }>`
    select format('constraint %I %s', conname, pg_get_constraintdef(oid)) as line
    from pg_constraint where conrelid = ${table}::regclass and contype not in ('n', 't')
    order by contype desc, conname`.execute(db);
  const indexes = await sql<{ line: string }>`
    select pg_get_indexdef(indexrelid) || ';' as line from pg_index
    where indrelid = ${table}::regclass
      and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
    order by indexrelid::regclass::text`.execute(db);
  const triggers = await sql<{ line: string }>`
    select pg_get_triggerdef(oid) || ';' as line from pg_trigger
    where tgrelid = ${table}::regclass and not tgisinternal
    order by tgname`.execute(db);
  const partitions = await sql<{ key: string | null }>`
    select pg_get_partkeydef(${table}::regclass) as key`.execute(db);
  const partitioned = partitions.rows[0]?.key ? ` partition by ${partitions.rows[0].key}` : '';
  const body = [...columns.rows, ...constraints.rows].map(({ line }) => `  ${line}`).join(',\n');
  return [
    `create table ${table} (\n${body}\n)${partitioned};`,
    ...[...indexes.rows, ...triggers.rows].map(({ line }) => line),
  ].join('\n');
}
