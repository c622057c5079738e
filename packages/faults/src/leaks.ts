import type { Cluster } from './cluster.ts';

/** 9: secrets in clear text in a log, a database column, a message, a webhook or an object key. */
export async function leaks(cluster: Cluster, videoIds: readonly string[]): Promise<string[]> {
  const keys = await Promise.all(videoIds.map((id) => cluster.api.contentKey(id)));
  const needles = [
    ...cluster.api.secrets,
    ...keys.flatMap((key) => [key.toString('hex'), key.toString('base64'), key.toString('base64url')]),
  ];
  await cluster.tap.drain();
  const haystacks = new Map([
    ['the log', cluster.log],
    ['a webhook', cluster.endpoint.bodies.join('\n')],
    ['a message', cluster.tap.bodies.join('\n')],
    ['storage', [...(await cluster.bucket.objects()).keys()].join('\n')],
    ...(await readTables(cluster)),
  ]);
  return [...haystacks].flatMap(([place, text]) =>
    needles.filter((needle) => holds(text, needle)).map((needle) => `9: ${place} holds ${needle}`),
  );
}

/** Searches for the text and for its hex digits, in which PostgreSQL shows bytes. */
function holds(text: string, needle: string): boolean {
  return text.includes(needle) || text.includes(Buffer.from(needle).toString('hex'));
}

async function readTables({ postgres }: Cluster): Promise<[string, string][]> {
  const tables = await postgres.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const texts = tables.map(async ({ name }): Promise<[string, string]> => {
    const rows = await postgres.query<{ row: string }>(`select t::text as row from ${name} t`);
    return [`the table ${name}`, rows.map(({ row }) => row).join('\n')];
  });
  return Promise.all(texts);
}
