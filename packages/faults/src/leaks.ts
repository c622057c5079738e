import { Client } from 'pg';
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
    ...(await readTables(cluster.postgres.url)),
  ]);
  return [...haystacks].flatMap(([place, text]) =>
    needles.filter((needle) => holds(text, needle)).map((needle) => `9: ${place} holds ${needle}`),
  );
}

/** Searches for the text and for its hex digits, in which PostgreSQL shows bytes. */
function holds(text: string, needle: string): boolean {
  return text.includes(needle) || text.includes(Buffer.from(needle).toString('hex'));
}

async function readTables(url: string): Promise<[string, string][]> {
  const client = new Client(url);
  // The query reports a server that is killed meanwhile.
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
        where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const texts: [string, string][] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t`);
      texts.push([`the table ${name}`, rows.map(({ row }) => row).join('\n')]);
    }
    return texts;
  } finally {
    await client.end();
  }
}
