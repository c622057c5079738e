/** The secret of the content keys in `fixtures/initial.sql`. It protects nothing. */
export const CONTENT_KEY_SECRET = Buffer.alloc(32, 7);

/**
 * The headers of an authenticated request, and the tables with rows. Before the second migration existed, a control plane wrote
 * `fixtures/initial.sql`: the headers in a comment, then an `insert` for each row.
 */
export function describeData(data: string): { credentials: Record<string, string>; tables: Set<string> } {
  const tables = [...data.matchAll(/^insert into (\w+)/gm)].map(([, table = '']) => table);
  return { credentials: JSON.parse(data.slice(3, data.indexOf('\n'))), tables: new Set(tables) };
}
