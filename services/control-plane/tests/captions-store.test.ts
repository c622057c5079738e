import { cueBlock, webVttFile } from '@framelane/captions/write-webvtt';
import { newId } from '@framelane/contracts/ids';
import { beforeEach, expect, test } from '@jest/globals';
import { addArtifacts } from '../src/artifacts/artifacts.service.ts';
import {
  findDuration,
  findFile,
  hasVideo,
  listCaptions,
  removeCaptions,
  saveCaptions,
  updateCaptions,
} from '../src/captions/captions.store.ts';
import { storedCues } from '../src/captions/stored-cues.ts';
import type { Database } from '../src/db/database.ts';
import { insertWorkspace } from './support/database.ts';
import { insertVideo } from './support/video-rows.ts';
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

const video = ({ deleted = false } = {}) =>
  insertVideo(db, workspaceId, { duration: 60, ...(deleted && { deleted_at: new Date() }) });

async function save(videoId: string, language: string, { isDefault }: { isDefault: boolean }) {
  const cues = storedCues([cue(`${language} of ${videoId}`)]);
  await saveCaptions(db, videoId, {
    language,
    label: language,
    isDefault,
    origin: 'person',
    revision: 1,
    cues,
  });
  await addArtifacts(db, videoId, [{ kind: 'captions', name: language, bytes: cues.bytes }]);
}

const cue = (text: string) => ({ start: 0, end: 1000, settings: '', text });
const fileOf = (...texts: string[]) => webVttFile(texts.map((text) => cueBlock(cue(text))));

/** The languages of a video with their labels; the default has a star. */
async function shown(videoId: string): Promise<string[]> {
  const captions = await listCaptions(db, videoId);
  return captions.map(
    ({ language, label, default: isDefault }) => `${language}: ${label}${isDefault ? '*' : ''}`,
  );
}

test('a language has its own cues', async () => {
  expect(await findFile(db, own, 'de')).toBe(fileOf(`de of ${own}`));
  expect(await findFile(db, other, 'en')).toBe(fileOf(`en of ${other}`));
  expect(await findFile(db, own, 'fr')).toBeUndefined();
});

test('the database returns every text as it was stored', async () => {
  const texts = ['"A\\" {B}, \'C\' \\\\', 'NULL', '\u{1f600} \u00a0\nD', '\\n$1 ?'];
  const captions = {
    language: 'en',
    label: 'English',
    isDefault: true,
    origin: 'person',
    revision: 1,
  } as const;
  const cues = storedCues(texts.map(cue));
  await saveCaptions(db, own, { ...captions, cues });
  expect(await findFile(db, own, 'en')).toBe(fileOf(...texts));
  expect(cues.bytes).toBe(Buffer.byteLength(fileOf(...texts)));
  expect(await listCaptions(db, own)).toMatchObject([{ language: 'de' }, { language: 'en', cues: 4 }]);
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
