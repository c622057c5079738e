import { newId } from '@framelane/contracts/ids';
import { beforeEach, expect, test } from '@jest/globals';
import {
  type Artifact,
  addArtifacts,
  artifactPrefixes,
  chosenPosterBytes,
  removeArtifact,
  storedSource,
} from '../src/artifacts/artifacts.service.ts';
import type { Database } from '../src/db/database.ts';
import { withTestDatabase } from './support/with-test-database.ts';

let db: Database;
let workspaceId: string;
withTestDatabase((opened) => {
  ({ db, workspaceId } = opened);
});

const LONG_AGO = new Date(0);
const ALL: Artifact[] = [
  { kind: 'source', folder: 'x1/', bytes: 1000 },
  { kind: 'segments', name: '360p', firstSegment: 0, attempt: 2, folder: 't1.1/', bytes: 100 },
  { kind: 'segments', name: '360p', firstSegment: 5, attempt: 2, folder: 't2.3/', bytes: 100 },
  { kind: 'segments', name: '480p', firstSegment: 0, attempt: 2, folder: 't1.1/', bytes: 100 },
  { kind: 'chosen_poster', bytes: 20 },
  { kind: 'captions', name: 'en', bytes: 3 },
  { kind: 'captions', name: 'de', bytes: 4 },
];
const TOTAL = 1327;

let own: string;
let other: string;
beforeEach(async () => {
  [own, other] = [await video(), await video()];
  for (const id of [own, other]) await addArtifacts(db, id, ALL);
});

async function video(): Promise<string> {
  const id = newId('vid');
  const any = { environment: 'live', status: 'uploading', title: 'Any', filename: 'any.mp4' } as const;
  const values = { ...any, id, workspace_id: workspaceId, updated_at: LONG_AGO };
  await db.insertInto('videos').values(values).execute();
  return id;
}

const rowOf = (id: string) => ({ id, workspace_id: workspaceId });
const storedBytes = async (id: string) => {
  const row = db.selectFrom('videos').select('storage_bytes').where('id', '=', id);
  return (await row.executeTakeFirstOrThrow()).storage_bytes;
};

test('the stored bytes are the sum of the artifacts of the video, whose row changes', async () => {
  expect([await storedBytes(own), await storedBytes(other)]).toEqual([TOTAL, TOTAL]);
  const changed = db.selectFrom('videos').select('updated_at').where('id', '=', own);
  expect((await changed.executeTakeFirstOrThrow()).updated_at).not.toEqual(LONG_AGO);
  const empty = await video();
  await addArtifacts(db, empty, []);
  expect(await storedBytes(empty)).toBe(0);
});

test('an artifact replaces the one of the same kind and name', async () => {
  await addArtifacts(db, own, [
    { kind: 'captions', name: 'en', bytes: 30 },
    { kind: 'segments', name: '360p', firstSegment: 5, attempt: 3, folder: 't9.9/', bytes: 50 },
  ]);
  expect([await storedBytes(own), await storedBytes(other)]).toEqual([TOTAL + 27 - 50, TOTAL]);
  const output = `hls/${workspaceId}/${own}/`;
  expect((await artifactPrefixes(db, rowOf(own))).toSorted()).toEqual([
    ...[`${output}a2/t1.1/`, `${output}a3/t9.9/`],
    `sources/${workspaceId}/${own}/x1/`,
  ]);
});

test.each([
  ['the source', { kind: 'source' }, 1000],
  ['the chosen poster', { kind: 'chosen_poster' }, 20],
  ['captions', { kind: 'captions', name: 'en' }, 3],
] as const)('%s can be removed, and everything else stays', async (_, artifact, bytes) => {
  await removeArtifact(db, own, artifact);
  expect(await storedBytes(own)).toBe(TOTAL - bytes);
  const ofOther = db.selectFrom('artifacts').select('kind').where('video_id', '=', other);
  expect([(await ofOther.execute()).length, await storedBytes(other)]).toEqual([ALL.length, TOTAL]);
});

test('the last artifact can be removed', async () => {
  const id = await video();
  await addArtifacts(db, id, [{ kind: 'source', folder: 'x1/', bytes: 7 }]);
  await removeArtifact(db, id, { kind: 'source' });
  expect([await storedBytes(id), await artifactPrefixes(db, rowOf(id))]).toEqual([0, []]);
});

test('the source and the chosen poster are found', async () => {
  await addArtifacts(db, own, [{ kind: 'source', folder: 'x2/', bytes: 7 }]);
  await addArtifacts(db, own, [{ kind: 'chosen_poster', bytes: 9 }]);
  const key = `sources/${workspaceId}/${own}/x2/original`;
  expect([await storedSource(db, rowOf(own)), await chosenPosterBytes(db, own)]).toEqual([
    { key, bytes: 7 },
    9,
  ]);
  const empty = await video();
  expect([await storedSource(db, rowOf(empty)), await chosenPosterBytes(db, empty)]).toEqual([undefined, 0]);
});

test('a video can have as many artifacts as the pieces of the longest video have renditions', async () => {
  const pieces = 10_800;
  const artifacts = (['360p', '480p'] as const).flatMap((name) =>
    Array.from({ length: pieces }, (_, firstSegment): Artifact => {
      return { kind: 'segments', name, firstSegment, attempt: 1, folder: 't3.1/', bytes: 16 };
    }),
  );
  const id = await video();
  await addArtifacts(db, id, artifacts);
  expect(await storedBytes(id)).toBe(16 * 2 * pieces);
});
