import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { segmentKey } from '@framelane/object-store/object-keys';
import express from 'express';
import pg from 'pg';
import { FOLDER } from '../../support/manifest.ts';
import { compete } from './contestant.ts';

/**
 * A program: Express and pg with the queries of the control plane's handlers, without authentication, validation, metrics
 * and logs.
 */
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
const app = express();

const COLUMNS = `*, (select expires_at from upload_tickets where video_id = videos.id) as upload_expires_at`;

app.get('/v1/videos/:id', async (req, res) => {
  const { rows } = await pool.query(
    `select ${COLUMNS} from videos where workspace_id = $1 and id = $2 and deleted_at is null`,
    [req.get('x-svc-workspace'), req.params.id],
  );
  res.json(rows[0]);
});

app.get('/v1/videos', async (req, res) => {
  const { rows } = await pool.query(
    `select ${COLUMNS} from videos where workspace_id = $1 and deleted_at is null
    order by created_at desc, id desc limit 26`,
    [req.get('x-svc-workspace')],
  );
  res.json({ data: rows.slice(0, 25) });
});

app.post('/v1/videos/upload-ticket', express.json(), async (req, res) => {
  const id = `vid_${crypto.randomUUID()}`;
  const token = crypto.randomUUID();
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query(
      `insert into videos (id, workspace_id, environment, status, filename, title, metadata, tags, playback_policy)
      values ($1, $2, 'live', 'uploading', $3, $3, '{}', '{}', 'public')`,
      [id, req.get('x-svc-workspace'), req.body.filename],
    );
    await client.query(
      `insert into upload_tickets (video_id, token_hash, expires_at, extension_seconds, latest_expires_at)
      values ($1, $2, now() + '1 hour', 3600, now() + '1 day')`,
      [id, Buffer.from(token)],
    );
    await client.query('commit');
  } finally {
    client.release();
  }
  res.status(201).json({ videoId: id, uploadToken: token });
});

const READY = `from videos join renditions on renditions.video_id = videos.id
  where videos.id = $1 and videos.workspace_id = $2 and videos.status = 'ready' and videos.deleted_at is null`;

app.get('/v1/hls/:workspace/:id/master.m3u8', async (req, res) => {
  const { rows } = await pool.query(
    `select name, renditions.codecs, renditions.width, renditions.height, renditions.frame_rate, channels, language, bandwidth,
      average_bandwidth ${READY}`,
    [req.params.id, req.params.workspace],
  );
  const lines = rows.map((row) => `#EXT-X-STREAM-INF:BANDWIDTH=${row.bandwidth}\n${row.name}/media.m3u8\n`);
  res.type('application/vnd.apple.mpegurl').send(`#EXTM3U\n${lines.join('')}`);
});

app.get('/v1/hls/:workspace/:id/:rendition/:file', async (req, res) => {
  const { workspace, id, rendition, file } = req.params;
  const { rows } = await pool.query(
    `select videos.attempt, segment_bytes[$4::int] as bytes ${READY} and name = $3`,
    [id, workspace, rendition, Number.parseInt(file, 10) + 1],
  );
  res.set({ 'Content-Type': 'video/mp2t', 'Content-Length': rows[0].bytes });
  const output = { workspaceId: workspace, videoId: id, attempt: rows[0].attempt, folder: FOLDER };
  const path = join(
    process.env.OBJECTS ?? '',
    segmentKey(output, rendition, Number.parseInt(file, 10), 'ts'),
  );
  await pipeline(createReadStream(path), res);
});

const server = createServer(app).listen(0, '127.0.0.1', () =>
  compete((server.address() as AddressInfo).port),
);
