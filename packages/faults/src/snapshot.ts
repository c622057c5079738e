import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AlternativeCodec } from '@framelane/contracts/renditions';
import { deadLetterQueue, QUEUES, type QueueName } from '@framelane/contracts/topology';
import { processesUsing } from '@framelane/test-kit/processes';
import { connect } from 'amqplib';
import type { Cluster } from './cluster.ts';
import { readDatabase } from './database-state.ts';

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
  /** How often a client has retried it; unknown, and 0, if the video is deleted. */
  retries: number;
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
    readDatabase(cluster.postgres),
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
