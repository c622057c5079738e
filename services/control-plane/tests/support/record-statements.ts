import { appendFileSync } from 'node:fs';
import pg from 'pg';

/** Frames of the control plane's sources, but not of `src/db`: tests also call it directly. */
const SOURCE_FRAME = /control-plane\/src\/(?!db\/)/;

/** Frames of statements about all tables: they name those of the schema at hand. */
const ANY_SCHEMA_FRAME = /control-plane\/src\/backups\/table-rows\.store/;

/** Statements of Kysely's migrator, with its lock: they belong to no version of ours. */
const OF_MIGRATOR = /"kysely_migration|"pg_catalog"|3853314791062309107/;

/** Appends each data statement that the sources of the control plane send to a file, as one line of JSON. */
export function recordStatements(path: string): void {
  Error.stackTraceLimit = 100;
  const seen = new Set<string>();
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function recorded(this: pg.Client, ...request: unknown[]) {
    const [first] = request;
    const text = typeof first === 'string' ? first : (first as { text?: string }).text;
    const isNew =
      text !== undefined &&
      /^\s*(select|insert|update|delete|with)\b/i.test(text) &&
      !OF_MIGRATOR.test(text) &&
      !seen.has(text);
    const stack = isNew ? (new Error().stack ?? '') : '';
    if (isNew && SOURCE_FRAME.test(stack) && !ANY_SCHEMA_FRAME.test(stack)) {
      seen.add(text);
      appendFileSync(path, `${JSON.stringify(text)}\n`);
    }
    return Reflect.apply(query, this, request);
  } as typeof query;
}
