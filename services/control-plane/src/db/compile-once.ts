import type { Compilable, CompiledQuery } from 'kysely';
import type { Database } from './database.ts';
import { nameStatement } from './statement-names.ts';

/**
 * A query that is asked so often that building it anew would be felt: it is built and compiled with its first call, each
 * connection prepares it once, and it is run with other parameters each time. `build` may only put its parameters in as
 * values; it never sees real ones.
 */
export function compileOnce<Parameters extends readonly unknown[], Row>(
  build: (db: Database, ...parameters: Parameters) => Compilable<Row>,
): (db: Database, ...parameters: Parameters) => Promise<Row[]> {
  let compiled: { query: CompiledQuery<Row>; places: readonly number[] } | undefined;

  const compile = (db: Database, count: number) => {
    const placeholders = Array.from({ length: count }, () => ({}));
    const query = build(db, ...(placeholders as unknown as Parameters)).compile();
    nameStatement(query.sql);
    const places = query.parameters.map((parameter) => placeholders.indexOf(parameter as object));
    return { query, places };
  };

  return async (db, ...parameters) => {
    compiled ??= compile(db, parameters.length);
    const { query, places } = compiled;
    // What the query itself fixes stays as it is.
    const values = places.map((place, index) => (place === -1 ? query.parameters[index] : parameters[place]));
    const { rows } = await db.executeQuery<Row>({ ...query, parameters: values });
    return rows;
  };
}
