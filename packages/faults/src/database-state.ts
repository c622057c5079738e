import { PACKAGINGS } from '@framelane/contracts/packaging';
import type { FaultDatabase } from './fault-database.ts';
import type { Snapshot } from './snapshot.ts';

/** The part of a snapshot that is in the database. */
export async function readDatabase(
  postgres: Pick<FaultDatabase, 'query'>,
): Promise<Pick<Snapshot, 'videos' | 'events' | 'deliveriesOpen' | 'jobs' | 'usage'>> {
  const videos = await postgres.query<Snapshot['videos'][number]>(VIDEOS);
  const events = await postgres.query<Snapshot['events'][number]>(
    `select id, type, payload::json -> 'data' ->> 'id' as "videoId",
      (payload::json -> 'data' ->> 'duration')::float8 as duration, payload::json -> 'data' -> 'codec' ->> 'codec' as codec
      from webhook_events`,
  );
  const [open] = await postgres.query<{ count: number }>(
    `select count(*)::int as count from webhook_deliveries where status not in ('succeeded', 'failed')`,
  );
  const jobs = await postgres.query<{ job: string }>(
    `select 'task' as job from tasks
      union all select 'import' from imports where due_at is not null
      union all select 'object-purge' from object_purges order by 1`,
  );
  const [usage] = await postgres.query<Snapshot['usage']>(USAGE);
  return {
    videos,
    events,
    deliveriesOpen: open?.count ?? 0,
    jobs: jobs.map(({ job }) => job),
    usage: usage ?? { minutes: 0, storageBytes: 0, bandwidthBytes: 0 },
  };
}

/** The extension of the segments of a video. */
const EXTENSION = `case packaging ${Object.entries(PACKAGINGS)
  .map(([name, { extension }]) => `when '${name}' then '.${extension}'`)
  .join(' ')} end`;

const VIDEOS = `
  select v.id, v.workspace_id as "workspaceId", v.status, v.deleted_at is not null as deleted,
    v.uploaded_at is not null as uploaded, v.source_deleted_at is not null as "sourceDeleted", v.attempt, v.content_key is not null as "hasKey",
    coalesce(t.expires_at < now(), true) as "ticketExpired", coalesce(t.lease_expires_at > now(), false) as "isLeased",
    (select count(*)::int from attempts a where a.video_id = v.id and a.outcome is null) as "attemptsOpen",
    cardinality(v.retried_at) as retries, v.codecs,
    (select coalesce(json_agg(json_build_object('name', name, 'segments', cardinality(segment_bytes))), '[]')
      from renditions r where r.video_id = v.id) as renditions,
    array(select r.name || '/' || n || ${EXTENSION} from renditions r,
      generate_series(0, cardinality(r.segment_bytes) - 1) n where r.video_id = v.id) as segments,
    array(select (select a.folder from artifacts a
        where a.video_id = v.id and a.kind = 'segments' and a.name = r.name and a.first_segment <= n
        order by a.first_segment desc limit 1) || r.name || '/' || n || ${EXTENSION}
      from renditions r, generate_series(0, cardinality(r.segment_bytes) - 1) n where r.video_id = v.id) as stored,
    (select coalesce(json_agg(json_build_object('bytes', bytes, 'rendition', case kind when 'segments' then name end, 'prefix',
        case when a.attempt is null then 'sources/' else 'hls/' end || v.workspace_id || '/' || v.id || '/'
        || coalesce('a' || a.attempt || '/', '') || folder
        || case kind when 'source' then 'original' when 'segments' then name || '/' else kind || '.' end)), '[]')
      from artifacts a where a.video_id = v.id and folder is not null) as artifacts
  from videos v left join upload_tickets t on t.video_id = v.id`;

const USAGE = `
  select coalesce(sum(transcoded_ms), 0)::float8 / 60000 as minutes,
    coalesce(sum(bandwidth_bytes), 0)::float8 as "bandwidthBytes",
    -- Files without a folder are in the database.
    ((select coalesce(sum(storage_bytes), 0) from videos where deleted_at is null)
      - (select coalesce(sum(bytes), 0) from artifacts where folder is null))::float8 as "storageBytes"
  from usage_daily`;
