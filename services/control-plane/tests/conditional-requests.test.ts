import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

const get = (path: string, entityTag?: string) =>
  request(plane.url)
    .get(`/v1${path}`)
    .set({ ...plane.credentials, ...(entityTag !== undefined && { 'if-none-match': entityTag }) });

/** Gets the response and its ETag, and checks that a repeat with that ETag gets 304. */
async function current(path: string) {
  const { body, headers } = await get(path);
  const etag = String(headers.etag);
  const again = await get(path, etag);
  expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
  return { body, etag };
}

/** Checks that a client with the earlier ETag gets the new response. */
async function expectNew(path: string, before: { body: unknown; etag: string }) {
  const after = await get(path, before.etag);
  expect(after.status).toBe(200);
  expect(after.body).not.toEqual(before.body);
  expect(after.headers.etag).not.toBe(before.etag);
  return after.body;
}

const LISTS = ['/videos', '/videos?limit=2', '/videos?environment=live&order=asc'];

/** Fields that never change. */
const FIXED = ['id', 'workspaceId', 'environment', 'filename', 'embed', 'createdAt', 'hls', 'clipOf'];

/**
 * For each other field, a statement that changes it, unless it is a text with a column of the same name. The statement changes nothing else that an ETag could depend on, such as
 * `updated_at`. `?` is the id of the video. The order matters: the video is first ready, then failed, then uploading.
 */
const CHANGES: Record<string, string> = {
  title: `update videos set title = 'Other' where id = ?`,
  playbackPolicy: `update videos set playback_policy = 'signed' where id = ?`,
  allowedOrigins: `update videos set allowed_origins = '{https://example.com}' where id = ?`,
  metadata: `update videos set metadata = '{"a":"b"}' where id = ?`,
  tags: `update videos set tags = '{a}' where id = ?`,
  variants: `update videos set variants = '{360p}' where id = ?`,
  audioTracks: `update renditions set label = 'Other' where video_id = ? and name = 'audio'`,
  thumbnail: `delete from artifacts where kind = 'poster' and video_id = ?`,
  storyboard: `update videos set storyboard = null where id = ?`,
  poster: `with chosen as (insert into artifacts (video_id, kind, bytes) values (?, 'chosen_poster', 1))
    update videos set chosen_poster = '{"width":1,"height":1}' where id = ?`,
  duration: `update videos set duration = 1 where id = ?`,
  width: `update videos set width = 2 where id = ?`,
  height: `update videos set height = 4 where id = ?`,
  aspectRatio: `update videos set width = 4 where id = ?`,
  frameRate: `update videos set frame_rate = 1 where id = ?`,
  size: `update videos set size = 1 where id = ?`,
  storageBytes: `update videos set storage_bytes = 1 where id = ?`,
  progress: `update videos set progress = 1 where id = ?`,
  inputIssues: `update videos set input_issues = '[]' where id = ?`,
  captions: `with added as (
    insert into captions (video_id, language, label, is_default, origin, revision, cue_count, cue_starts,
      cue_ends, cues) values (?, 'en', 'English', false, 'person', 1, 1, '{0}', '{1}', '{A}') returning video_id
    ) insert into artifacts (video_id, kind, name, bytes) select video_id, 'captions', 'en', 1 from added`,
  'captions of the same language': `update captions set label = 'Other' where video_id = ?`,
  'no captions': `delete from captions where video_id = ?`,
  autoCaptions: `insert into auto_captions (video_id, requested) values (?, 'en')`,
  'state of captions by a machine': `update auto_captions set status = 'ready', language = 'en', ready_at = now() where video_id = ?`,
  downloads: `insert into downloads (video_id, name) values (?, 'highest')`,
  'state of a download': `update downloads set status = 'ready', ready_at = now() where video_id = ?`,
  codecs: `update videos set codecs = '[{"codec":"av1","status":"preparing","error":null}]' where id = ?`,
  'state of a codec': `update videos set codecs = '[{"codec":"av1","status":"ready","error":null}]' where id = ?`,
  renditions: `update renditions set bandwidth = bandwidth + 1 where video_id = ?`,
  posterTime: `update videos set poster_time = 1 where id = ?`,
  chapterCount: `update videos set chapter_count = 3 where id = ?`,
  source: `update videos set sha256 = repeat('c', 64) where id = ?`,
  keepSource: `update videos set keep_source_days = 1 where id = ?`,
  sourceFile: `update videos set delete_source_at = '2030-01-01' where id = ?`,
  updatedAt: `update videos set updated_at = '2030-01-01' where id = ?`,
  uploadedAt: `update videos set uploaded_at = '2030-01-01' where id = ?`,
  readyAt: `update videos set ready_at = '2030-01-01' where id = ?`,
  error: `update videos set status = 'failed', content_key = null, error_code = 'internal_error' where id = ?`,
  retryable: `delete from artifacts where kind = 'source' and video_id = ?`,
  deletedSource: `update videos set source_deleted_at = '2030-01-01' where id = ?`,
  status: `update videos set status = 'uploading', error_code = null where id = ?`,
  trim: `update videos set trim = '{"start":1,"end":null}' where id = ?`,
  packaging: `update videos set packaging = 'cmaf' where id = ?`,
  hdr: `update videos set hdr = 'keep' where id = ?`,
  audioOnly: `update videos set audio_only = true where id = ?`,
  watermark: `update videos set watermark = '{"image":"wmk_01m7y5g5zrfqetgq2kbv3n8x7c","corner":"top-left","opacity":1,"width":1,"margin":0}'
    where id = ?`,
  expiresAt: `update upload_tickets set expires_at = '2030-01-01' where video_id = ?`,
  preview: `update videos set preview_variants = '{360p}' where id = ?`,
  import: `insert into imports (video_id, workspace_id, shown_url, deadline)
    select id, workspace_id, 'https://example.com/', '2031-01-01' from videos where id = ?`,
  'tries of an import': `update imports set tries = tries + 1 where video_id = ?`,
  'deadline of an import': `update imports set deadline = '2032-01-01' where video_id = ?`,
};

const columnOf = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

test('each field of a video changes the ETag of its record and of each list that shows it', async () => {
  const { components } = readOpenApiDocument() as {
    components: { schemas: { Video: { properties: object } } };
  };
  const texts = Object.keys(components.schemas.Video.properties)
    .filter((field) => !FIXED.includes(field) && !(field in CHANGES))
    .map((field) => [field, `update videos set ${columnOf(field)} = 'a' where id = ?`] as const);

  const { videoId } = await plane.readyVideo();
  await plane.ticket();
  const record = `/videos/${videoId}`;
  for (const [field, statement] of [...texts, ...Object.entries(CHANGES)]) {
    const before = await current(record);
    const lists = await Promise.all(LISTS.map(async (path) => ({ path, before: await current(path) })));
    await sql.raw(statement.replaceAll('?', `'${videoId}'`)).execute(plane.db);
    const after = await expectNew(record, before);
    if (field in before.body) expect({ [field]: after[field] }).not.toEqual({ [field]: before.body[field] });
    for (const list of lists) await expectNew(list.path, list.before);
  }
});

describe('the ETag of a list', () => {
  test('changes with the videos on the page, and with the next page', async () => {
    const tag = 'page';
    const path = `/videos?tag=${tag}&limit=1&order=asc`;
    let before = await current(path);
    expect(before.body.data).toEqual([]);
    // The first video is on the page, the second begins the next page.
    for (const filename of ['a.mp4', 'b.mp4']) {
      await plane.ticket({ filename, tags: [tag] });
      await expectNew(path, before);
      before = await current(path);
    }
    const [{ id }] = before.body.data;
    await request(plane.url).delete(`/v1/videos/${id}`).set(plane.credentials).expect(204);
    await expectNew(path, before);
  });

  test('stays when a video changes that is not on the page', async () => {
    const { videoId } = await plane.ticket();
    await plane.ticket({ filename: 'a.mp4', tags: ['rest'] });
    const { etag } = await current('/videos?tag=rest');
    await sql`update videos set title = 'Other' where id = ${videoId}`.execute(plane.db);
    expect((await get('/videos?tag=rest', etag)).status).toBe(304);
  });

  test('changes with the total, if the response has it', async () => {
    await plane.ticket({ filename: 'a.mp4', tags: ['counted'] });
    const [page, counted] = [
      '/videos?tag=counted&order=asc&limit=1',
      '/videos?tag=counted&order=asc&limit=1&total=true',
    ];
    await plane.ticket({ filename: 'b.mp4', tags: ['counted'] });
    const [{ etag }, before] = [await current(page), await current(counted)];
    await plane.ticket({ filename: 'c.mp4', tags: ['counted'] });
    expect((await get(page, etag)).status).toBe(304);
    await expectNew(counted, before);
  });

  test('changes when a video leaves the filter or enters it', async () => {
    const { videoId } = await plane.ticket();
    const [uploading, tagged] = ['/videos?status=uploading', '/videos?tag=entered'];
    const before = [await current(uploading), await current(tagged)] as const;
    await sql`update videos set tags = '{entered}', status = 'processing' where id = ${videoId}`.execute(
      plane.db,
    );
    await expectNew(uploading, before[0]);
    await expectNew(tagged, before[1]);
  });

  test('changes even if transactions commit in another order than they began', async () => {
    const [first, second] = [await plane.ticket(), await plane.ticket()];
    const rename = (videoId: string) =>
      sql`update videos set title = 'Renamed', updated_at = now() where id = ${videoId}`;
    let before = await current('/videos');
    await plane.db.transaction().execute(async (trx) => {
      // The time of this transaction is older than that of the next one, which ends first.
      await rename(first.videoId).execute(trx);
      await rename(second.videoId).execute(plane.db);
      await expectNew('/videos', before);
      before = await current('/videos');
    });
    await expectNew('/videos', before);
  });

  test('differs between control planes with different public URLs', async () => {
    const { etag } = await current('/videos');
    const other = await plane.startAnother({ publicUrl: 'http://other.framelane.test' });
    const response = await request(other.url)
      .get('/v1/videos')
      .set({ ...plane.credentials, 'if-none-match': etag });
    expect(response.status).toBe(200);
  });
});

test('only the client itself may store the response, and must revalidate it each time', async () => {
  const { headers } = await get('/videos');
  expect(headers['cache-control']).toBe('private, no-cache');
  expect(headers.etag).toMatch(/^W\/"[\w-]{27}"$/);
  const unauthorized = await request(plane.url).get('/v1/videos').set('if-none-match', String(headers.etag));
  expect([unauthorized.status, unauthorized.headers['cache-control']]).toEqual([401, 'no-store']);
});
