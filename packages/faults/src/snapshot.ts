import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGINGS } from '@framelane/contracts/packaging';
import type { AlternativeCodec } from '@framelane/contracts/renditions';
import { deadLetterQueue, QUEUES, type QueueName } from '@framelane/contracts/topology';
import { processesUsing } from '@framelane/test-kit/processes';
import { connect } from 'amqplib';
import type { Cluster } from './cluster.ts';

type VideoState = {
  id: string;
  workspaceId: string;
  status: 'uploading' | 'processing' | 'ready' | 'failed';
  deleted: boolean;
  uploaded: boolean;
  /** By `keepSource` or on request. */
  sourceDeleted: boolean;
  attempt: number;
  hasKey: boolean;
  /** Of the upload ticket. */
  ticketExpired: boolean;
  /** A lease that has expired does not count: the engine may be gone, and the token works again. */
  isLeased: boolean;
  attemptsOpen: number;
  /** Those beside H.264; none if the video is deleted. */
  codecs: {
    codec: AlternativeCodec;
    status: 'preparing' | 'ready' | 'failed';
    error: { code: string } | null;
  }[];
  /** The number of segments of each rendition. */
  renditions: { name: string; segments: number }[];
  /** Segments in the database, such as `360p/0.ts`. */
  segments: string[];
  /** The keys of these segments, below the prefix of the attempt, such as `360p/0.ts` or `t3.1/360p/20.ts`. */
  stored: string[];
  /** Its artifacts in the object store, each with the key of its file or the prefix of its segments, and the rendition of these. */
  artifacts: { prefix: string; bytes: number; rendition: string | null }[];
};

/** The state of a cluster in all its systems. */
export type Snapshot = {
  videos: VideoState[];
  /** Sizes in bytes by key. */
  objects: ReadonlyMap<string, number>;
  /** Keys of unfinished multipart uploads. */
  unfinishedUploads: string[];
  /** With the duration of a ready video: the row of a deleted video no longer has it. `codec` is that of an event of a codec. */
  events: { id: string; type: string; videoId: string; duration: number | null; codec: string | null }[];
  delivered: { id: string; type: string; videoId: string }[];
  /** Event ids that came with different bodies. */
  reusedEventIds: string[];
  deliveriesOpen: number;
  /** Number of messages by queue, including dead-letter queues. */
  messages: Record<string, number>;
  /** Background work that is due now or later, without maintenance. */
  jobs: string[];
  ffmpegs: string[];
  jobDirectories: string[];
  usage: { minutes: number; storageBytes: number; bandwidthBytes: number };
  /** Bytes sent by the public listeners. */
  sentBytes: number;
  /** Services that crashed. */
  died: string[];
  serverErrors: string[];
};

export async function takeSnapshot(cluster: Cluster): Promise<Snapshot> {
  const [state, messages, objects, unfinishedUploads, ffmpegs, jobDirectories] = await Promise.all([
    readDatabase(cluster),
    readQueues(cluster.rabbitmq.url),
    cluster.bucket.objects(),
    cluster.bucket.unfinishedUploads(),
    processesUsing(cluster.workDir),
    readJobDirectories(cluster),
  ]);
  return {
    ...state,
    messages,
    ffmpegs: ffmpegs.map(({ command }) => command),
    jobDirectories,
    objects,
    unfinishedUploads,
    sentBytes: cluster.proxies.public.bytesToClients,
    delivered: [...cluster.endpoint.events.values()],
    reusedEventIds: [...cluster.endpoint.reusedIds],
    died: cluster.services.filter(({ ownDeaths }) => ownDeaths > 0).map(({ name }) => name),
    serverErrors: cluster.api.serverErrors,
  };
}

/** The part of a snapshot that is in the database. */
export async function readDatabase({
  postgres,
}: Cluster): Promise<Pick<Snapshot, 'videos' | 'events' | 'deliveriesOpen' | 'jobs' | 'usage'>> {
  const videos = await postgres.query<VideoState>(VIDEOS);
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
    v.codecs,
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

async function readQueues(url: string): Promise<Record<string, number>> {
  const connection = await connect(url);
  try {
    const channel = await connection.createChannel();
    const names = (Object.keys(QUEUES) as QueueName[]).flatMap((queue) => [queue, deadLetterQueue(queue)]);
    const counts: Record<string, number> = {};
    for (const name of names) counts[name] = (await channel.checkQueue(name)).messageCount;
    return counts;
  } finally {
    await connection.close();
  }
}

async function readJobDirectories({ engines, workDir }: Cluster): Promise<string[]> {
  const found = engines.map(async (_engine, index) => {
    const jobs = join(workDir, String(index + 1), 'jobs');
    return (await readdir(jobs).catch(() => [])).map((name) => join(jobs, name));
  });
  return (await Promise.all(found)).flat();
}
