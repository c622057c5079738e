import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';

type Column = { type: string; required: boolean; hasDefault: boolean };

/** The parts of a schema that code relies on: columns by `table.column`, and constraints and unique indexes. */
export type Schema = { columns: Map<string, Column>; rules: Map<string, string> };

export async function readSchema(db: Database): Promise<Schema> {
  const columns = await sql<Column & { name: string }>`
    select format('%s.%s', relname, attname) as name, format_type(atttypid, atttypmod) as type,
      attnotnull as required, atthasdef or attidentity <> '' as "hasDefault"
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname not like 'kysely_%'
      and attnum > 0 and not attisdropped`.execute(db);
  const rules = await sql<{ name: string; rule: string }>`
    select format('%s.%s', conrelid::regclass, conname) as name, pg_get_constraintdef(oid) as rule
    from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n'
    union all
    select format('%s.%s', indrelid::regclass, indexrelid::regclass), pg_get_indexdef(indexrelid)
    from pg_index join pg_class on pg_class.oid = indexrelid
    where relnamespace = 'public'::regnamespace and indisunique`.execute(db);
  return {
    columns: new Map(columns.rows.map(({ name, ...column }) => [name, column])),
    rules: new Map(rules.rows.map(({ name, rule }) => [name, rule])),
  };
}

/**
 * The changes between two schemas that can break code for the first one, sorted. A new constraint on an old table can
 * refuse rows of the old code. New tables cannot, because the old code does not use them. An `on conflict` of the old code
 * needs its unique index.
 */
export function breakingChanges(before: Schema, after: Schema): string[] {
  const oldTables = new Set([...before.columns.keys()].map(tableOf));
  const isOld = ([name]: [string, unknown]) => oldTables.has(tableOf(name));
  const old = [...before.columns].map(([name, column]) => [name, breakOf(column, after.columns.get(name))]);
  const added = [...after.columns]
    .filter(isOld)
    .filter(([name, { required, hasDefault }]) => !before.columns.has(name) && required && !hasDefault)
    .map(([name]) => [name, 'is new, required and without a default']);
  const rules = [...after.rules]
    .filter(isOld)
    .filter(([name, rule]) => before.rules.get(name) !== rule)
    .map(([name, rule]) => [name, `is a new rule: ${rule}`]);
  const gone = [...before.rules]
    .filter(([name, rule]) => rule.startsWith('CREATE UNIQUE INDEX') && !after.rules.has(name))
    .map(([name]) => [name, 'is gone']);
  const changes = [...old, ...added, ...rules, ...gone].filter(([, change]) => change !== null);
  return changes.map((change) => change.join(' ')).sort();
}

/** How a column of the old schema breaks old code; null if it does not. */
function breakOf(before: Column, after: Column | undefined): string | null {
  if (after === undefined) return 'is gone';
  if (after.type !== before.type) return `was ${before.type} and is ${after.type}`;
  if (!after.required) return null;
  if (!before.required) return 'must not be null any more';
  return before.hasDefault && !after.hasDefault ? 'has lost its default' : null;
}

function tableOf(name: string): string {
  return name.split('.')[0] ?? '';
}
