import { newId } from '@framelane/contracts/ids';
import { beforeEach, expect, test } from '@jest/globals';
import {
  addStoredBytes,
  findCues,
  findDuration,
  hasVideo,
  listCaptions,
  removeCaptions,
  saveCaptions,
  updateCaptions,
} from '../src/captions/captions.store.ts';
import type { Database } from '../src/db/database.ts';
import { insertWorkspace } from './support/database.ts';
import { withTestDatabase } from './support/with-test-database.ts';

let db: Database;
let workspaceId: string;
/** Two videos with English captions, which are the default, and German ones. */
let own: string;
let other: string;
withTestDatabase((opened) => {
  ({ db, workspaceId } = opened);
});
beforeEach(async () => {
  [own, other] = [await video(), await video()];
  for (const videoId of [own, other]) {
    await save(videoId, 'en', { isDefault: true });
    await save(videoId, 'de', { isDefault: false });
  }
});

async function video({ deleted = false } = {}): Promise<string> {
  const id = newId('vid');
  const any = { environment: 'live', status: 'uploading', title: 'Any', filename: 'any.mp4' } as const;
  await db
    .insertInto('videos')
    .values({
      ...{ ...any, id, workspace_id: workspaceId, duration: 60, storage_bytes: 100 },
      ...(deleted && { deleted_at: new Date() }),
    })
    .execute();
  return id;
}

const save = (videoId: string, language: string, { isDefault }: { isDefault: boolean }) =>
  saveCaptions(db, videoId, {
    ...{ language, label: language, isDefault, origin: 'api', revision: 1, bytes: 10 },
    cues: [{ start: 0, end: 1000, block: `cue in ${language} of ${videoId}` }],
  });

/** The languages of a video with their labels; the default has a star. */
async function shown(videoId: string): Promise<string[]> {
  const captions = await listCaptions(db, videoId);
  return captions.map(
    ({ language, label, default: isDefault }) => `${language}: ${label}${isDefault ? '*' : ''}`,
  );
}

const storedBytes = async (videoId: string) =>
  (await db.selectFrom('videos').select('storage_bytes').where('id', '=', videoId).executeTakeFirstOrThrow())
    .storage_bytes;

test('a language has its own cues', async () => {
  expect(await findCues(db, own, 'de')).toEqual([`cue in de of ${own}`]);
  expect(await findCues(db, other, 'en')).toEqual([`cue in en of ${other}`]);
  expect(await findCues(db, own, 'fr')).toBeUndefined();
});

test('a living video is found in its workspace only', async () => {
  const deleted = await video({ deleted: true });
  const foreign = await insertWorkspace(db);
  expect([await hasVideo(db, workspaceId, own), await findDuration(db, workspaceId, own)]).toEqual([
    true,
    60,
  ]);
  for (const [workspace, videoId] of [
    [foreign, own],
    [workspaceId, deleted],
    [workspaceId, newId('vid')],
  ] as const) {
    expect(await hasVideo(db, workspace, videoId)).toBe(false);
    expect(await findDuration(db, workspace, videoId)).toBeNull();
  }
});

test.each<[string, () => Promise<void>, string[]]>([
  ['new ones are the default', () => save(own, 'fr', { isDefault: true }), ['de: de', 'en: en', 'fr: fr*']],
  ['new ones are not', () => save(own, 'fr', { isDefault: false }), ['de: de', 'en: en*', 'fr: fr']],
  ['the default is replaced', () => save(own, 'en', { isDefault: true }), ['de: de', 'en: en*']],
  [
    'others become the default',
    () => updateCaptions(db, own, 'de', { isDefault: true, revision: 2 }),
    ['de: de*', 'en: en'],
  ],
  [
    'the default has another label',
    () => updateCaptions(db, own, 'en', { label: 'English', revision: 2 }),
    ['de: de', 'en: English*'],
  ],
  [
    'others stay as they are',
    () => updateCaptions(db, own, 'de', { isDefault: false, revision: 2 }),
    ['de: de', 'en: en*'],
  ],
  ['some are removed', () => removeCaptions(db, own, 'de'), ['en: en*']],
])('%s, and those of another video do not change', async (_, change, expected) => {
  const before = await listCaptions(db, other);
  await change();
  expect(await shown(own)).toEqual(expected);
  expect(await listCaptions(db, other)).toEqual(before);
});

test('stored bytes are added to one video, and never become negative', async () => {
  await addStoredBytes(db, own, 50);
  expect([await storedBytes(own), await storedBytes(other)]).toEqual([150, 100]);
  await addStoredBytes(db, own, -200);
  expect([await storedBytes(own), await storedBytes(other)]).toEqual([0, 100]);
});
