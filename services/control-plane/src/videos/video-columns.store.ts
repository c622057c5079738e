import type { components, operations } from '@framelane/openapi/types';
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { Schema, VideoRow } from '../db/schema.ts';
import { fromDays, toDays } from './keep-source.ts';

/*
 * Where the fields of the API are in the table of videos. A field that the contract adds to VideoPatch or to the query of the list does
 * not compile until it is here.
 */

/** The fields of a video that its owner sets. */
export type OwnFields = Pick<components['schemas']['Video'], keyof components['schemas']['VideoPatch']>;

/** What these fields are in a tombstone, and with that the names of their columns. */
export const BLANK_COLUMNS = {
  title: '',
  metadata: '{}',
  tags: [],
  passthrough: null,
  playback_policy: sql<never>`default`,
  allowed_origins: null,
  keep_source_days: null,
  poster_time: null,
};

/** The columns of the given fields. Those of absent fields are undefined; Kysely omits them. */
export function toColumns(fields: Partial<OwnFields>) {
  const {
    title,
    metadata,
    tags,
    passthrough,
    playbackPolicy,
    allowedOrigins,
    keepSource,
    posterTime,
    ...others
  } = fields;
  others satisfies Record<string, never>;
  return {
    title,
    metadata: metadata && JSON.stringify(metadata),
    tags,
    passthrough,
    playback_policy: playbackPolicy,
    allowed_origins: allowedOrigins,
    keep_source_days: keepSource && toDays(keepSource),
    poster_time: posterTime,
  } satisfies Record<keyof typeof BLANK_COLUMNS, unknown>;
}

/** The fields of a row. */
export function toOwnFields(row: VideoRow): OwnFields {
  return {
    title: row.title,
    playbackPolicy: row.playback_policy,
    allowedOrigins: row.allowed_origins,
    metadata: row.metadata,
    tags: row.tags,
    passthrough: row.passthrough,
    keepSource: fromDays(row.keep_source_days),
    posterTime: row.poster_time,
  };
}

type ListQuery = NonNullable<operations['listVideos']['parameters']['query']>;

/** Which videos a list has. Absent filters match all videos. */
export type VideoFilter = Omit<
  ListQuery,
  'status' | 'createdAfter' | 'createdBefore' | 'q' | 'order' | 'limit' | 'cursor' | 'total'
> & {
  statuses?: readonly VideoRow['status'][];
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  /** Texts that the title contains, in any order. */
  titleContains?: readonly string[];
};

/** The condition of a filter, except that on environment and status. */
export function conditionOf(
  eb: ExpressionBuilder<Schema, 'videos'>,
  { createdAfter, createdBefore, titleContains = [], tag, environment, statuses, ...others }: VideoFilter,
): Expression<SqlBool> {
  others satisfies Record<string, never>;
  return eb.and([
    ...(createdAfter === undefined ? [] : [eb('created_at', '>=', createdAfter)]),
    ...(createdBefore === undefined ? [] : [eb('created_at', '<', createdBefore)]),
    // Not "ilike all": PostgreSQL would not use the index on titles.
    ...titleContains.map((text) => eb('title', 'ilike', containing(text))),
    ...(tag === undefined ? [] : [hasTag(tag)]),
  ]);
}

export function hasTag(tag: string) {
  return sql<boolean>`tags @> array[${tag}]::text[]`;
}

/** The pattern of LIKE for what contains a text. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
