import { writeFile } from 'node:fs/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import { startControlPlane } from './control-plane.ts';
import { TestEndpoint } from './test-endpoint.ts';
import { deleteVideo, localWebhooks, WebhookClient } from './webhooks.ts';

/** The secret of the content keys in the data. It protects nothing. */
export const CONTENT_KEY_SECRET = Buffer.alloc(32, 7);

/** Every table of the initial schema. A table comes after those that its rows refer to. */
const TABLES = [
  ...['workspaces', 'api_keys', 'videos', 'upload_tickets', 'attempts', 'renditions', 'object_purges'],
  ...['maintenance_steps', 'usage_daily', 'webhook_endpoints', 'webhook_events', 'webhook_deliveries'],
  ...['webhook_attempts', 'idempotency_keys'],
];

/**
 * Uses the API until every table has rows, and writes them to a file as SQL (`pnpm schema:data`). The file belongs to the initial
 * schema, so do not write it again after the second migration exists.
 */
export async function writeInitialData(path: string): Promise<void> {
  const plane = await startControlPlane((config) => ({
    ...localWebhooks(config),
    secrets: { ...config.secrets, contentKey: CONTENT_KEY_SECRET },
  }));
  const endpoint = await TestEndpoint.start();
  try {
    const webhooks = new WebhookClient(plane);
    const { id } = await webhooks.create({ url: endpoint.url, description: 'Initial' });
    await plane.readyVideo();
    await webhooks.settled(id);
    await deleteVideo(plane, (await plane.readyVideo()).videoId);
    await webhooks.settled(id);
    const { uploadToken, videoId } = await plane.ticket({ filename: 'processing.mp4', tags: ['a'] });
    await plane.engine.upload(uploadToken);
    await plane.engine.claim(videoId);
    await fetch(`${plane.url}/v1/videos/upload-ticket`, {
      method: 'POST',
      headers: { ...plane.credentials, 'content-type': 'application/json', 'idempotency-key': 'initial' },
      body: JSON.stringify({ filename: 'uploading.mp4' }),
    });
    await plane.stopAlone();
    const { authorization, 'x-svc-workspace': workspace } = plane.credentials;
    const credentials = JSON.stringify({ authorization, 'x-svc-workspace': workspace });
    await writeFile(path, `-- ${credentials}\n${await dumpRows(plane.db)}`);
  } finally {
    await endpoint.stop();
    await plane.stop();
  }
}

/** The rows of all tables as SQL, one statement for each row. */
async function dumpRows(db: Database): Promise<string> {
  const statements: string[] = [];
  for (const table of TABLES) {
    const insert: RawBuilder<{ statement: string }> = sql`
      select format('insert into %I select * from json_populate_record(null::%I, %L);', ${table}::text, ${table}::text,
        row_to_json(row)) as statement
      from ${sql.table(table)} row order by row::text`;
    const { rows } = await insert.execute(db);
    statements.push(...rows.map(({ statement }) => statement));
  }
  return `${statements.join('\n')}\n`;
}

/** The headers of an authenticated request, and the tables with rows. */
export function describeData(data: string): { credentials: Record<string, string>; tables: Set<string> } {
  const tables = [...data.matchAll(/^insert into (\w+)/gm)].map(([, table = '']) => table);
  return { credentials: JSON.parse(data.slice(3, data.indexOf('\n'))), tables: new Set(tables) };
}
