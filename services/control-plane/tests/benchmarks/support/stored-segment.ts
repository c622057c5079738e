import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { segmentKey } from '@framelane/object-store/object-keys';
import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import { FOLDER } from '../../support/manifest.ts';

/** Stores a rendition of a video that is ready, with one segment. */
export async function storeSegment(
  db: Database,
  objects: string,
  { workspaceId, videoId, bytes }: { workspaceId: string; videoId: string; bytes: number },
): Promise<void> {
  await sql`
    insert into renditions (video_id, name, codecs, width, height, frame_rate, bandwidth, average_bandwidth,
      segment_durations, segment_bytes)
    values (${videoId}, '360p', 'avc1.64001e', 640, 360, 25, 700000, 670000, '{6}', ${[bytes]})`.execute(db);
  await sql`
    insert into artifacts (video_id, kind, name, attempt, folder, bytes)
    values (${videoId}, 'segments', '360p', 1, 't0.1/', ${bytes})`.execute(db);
  const file = join(
    objects,
    segmentKey({ workspaceId, videoId, attempt: 1, folder: FOLDER }, '360p', 0, 'ts'),
  );
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, randomBytes(bytes));
}
