import type { components } from '@framelane/openapi/types';
import { type ExpressionBuilder, sql } from 'kysely';
import type { Schema } from '../db/schema.ts';

/** The public record of captions. */
export type CaptionsRecord = components['schemas']['Captions'];

/** The captions of the video in the outer query, as PostgreSQL builds them. `toCaptionsRecords` completes them. */
export function captionsOf(_: ExpressionBuilder<Schema, 'videos'>) {
  return sql<
    CaptionsRecord[]
  >`(select coalesce(json_agg(json_build_object('language', language, 'label', label,
    'default', is_default, 'origin', origin, 'cues', cue_count, 'bytes', bytes, 'updatedAt', updated_at)
    order by language collate "C"), '[]') from captions where video_id = videos.id)`.as('captions');
}

/** Writes the times in the format of the API. */
export function toCaptionsRecords(rows: CaptionsRecord[]): CaptionsRecord[] {
  return rows.map((row) => ({ ...row, updatedAt: new Date(row.updatedAt).toISOString() }));
}
