import { FAILURE_CODES } from '@framelane/contracts/failures';
import { HDR_CHOICES } from '@framelane/contracts/hdr';
import { PACKAGING_NAMES } from '@framelane/contracts/packaging';
import { RENDITIONS, RUNGS, VIDEO_CODECS } from '@framelane/contracts/renditions';
import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { Database } from '../src/db/database.ts';
import { withTestDatabase } from './support/with-test-database.ts';

let db: Database;
withTestDatabase((opened) => {
  ({ db } = opened);
});

type SchemaWithValues = { enum?: string[]; properties?: Record<string, { enum?: (string | null)[] }> };
const { components } = readOpenApiDocument() as {
  components: { schemas: Record<string, SchemaWithValues> };
};

/** The values of a schema of the contract, or of a property, as in `Webhook.disabledReason`. */
function valuesOf(path: string): string[] {
  const [schema = '', property] = path.split('.');
  const { enum: values, properties } = components.schemas[schema] ?? {};
  const found = property === undefined ? values : properties?.[property]?.enum;
  return (found ?? []).filter((value) => value !== null).toSorted();
}

/** The values that a CHECK constraint allows. */
async function allowedIn(column: string): Promise<string[]> {
  const [table, name] = column.split('.');
  const { rows } = await sql<{ value: string }>`
    select (regexp_matches(pg_get_constraintdef(oid), '''([^'']+)''::text', 'g'))[1] as value from pg_constraint
    where contype = 'c' and conrelid = ${table}::regclass
      and pg_get_constraintdef(oid) like ${`CHECK ((${name} = ANY (ARRAY[%`}`.execute(db);
  return rows.map(({ value }) => value).toSorted();
}

test.each([
  ['videos.status', 'VideoStatus'],
  ['videos.environment', 'Environment'],
  ['videos.playback_policy', 'PlaybackPolicy'],
  ['videos.packaging', 'Packaging'],
  ['videos.hdr', 'Hdr'],
  ['api_keys.environment', 'Environment'],
  ['usage_daily.environment', 'Environment'],
  ['views_daily.environment', 'Environment'],
  ['viewer_changes.environment', 'Environment'],
  ['viewers_daily.environment', 'Environment'],
  ['captions.origin', 'Captions.origin'],
  ['chapters.origin', 'Chapters.origin'],
  ['webhook_endpoints.disabled_reason', 'Webhook.disabledReason'],
  ['webhook_deliveries.status', 'WebhookDeliverySummary.status'],
])('the values of %s are those of the contract', async (column, schema) => {
  const values = await allowedIn(column);
  expect(values).not.toEqual([]);
  expect(values).toEqual(valuesOf(schema));
});

test.each([
  ['FailureCode', FAILURE_CODES],
  ['Rendition', RENDITIONS],
  ['Packaging', PACKAGING_NAMES],
  ['Hdr', HDR_CHOICES],
  ['Variant', RUNGS],
  ['VideoCodec', VIDEO_CODECS],
])('the services know the values of %s', (schema, values) => {
  expect(values.toSorted()).toEqual(valuesOf(schema));
});
