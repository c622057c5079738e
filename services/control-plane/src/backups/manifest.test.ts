import { expect, test } from '@jest/globals';
import { DamagedBackupError, UnknownFormatError } from './backup-errors.ts';
import { type Manifest, readManifest, writeManifest } from './manifest.ts';

const TIME = '2026-11-29T17:05:00.000Z';
const MANIFEST: Manifest = {
  startedAt: TIME,
  snapshotAt: TIME,
  completedAt: TIME,
  migrations: ['20261209-initial', '20270101-later'],
  tables: [{ name: 'videos', columns: ['id'], rows: 1, sha256: 'a' }],
  objects: { count: 1, bytes: 2, missing: 0, lists: [{ name: 'objects/000000.gz', sha256: 'b' }] },
  secrets: { sha256: 'c' },
};
const read = (text: string) => readManifest(text, 'the-id', 'backups/the-id/manifest.json');

test('a manifest is read as it was written', () => {
  expect(read(writeManifest(MANIFEST))).toMatchObject(MANIFEST);
});

test('a later format is unknown, whatever else it has', () => {
  const text = JSON.stringify({ format: 'framelane-backup', version: 2, tables: 'elsewhere' });
  expect(() => read(text)).toThrow(UnknownFormatError);
  expect(() => read(text)).toThrow(/the-id was made by a newer Framelane.*Use that version/);
});

test.each([
  ['torn', writeManifest(MANIFEST).slice(0, -2)],
  ['no object', '7'],
  ['with a table elsewhere', writeManifest(MANIFEST).replace('"videos"', '"../videos"')],
  ['with a table in a folder', writeManifest(MANIFEST).replace('"videos"', '"videos/a"')],
  ['with a list elsewhere', writeManifest(MANIFEST).replace('objects/000000.gz', '../objects/0.gz')],
  ['with a list in a folder', writeManifest(MANIFEST).replace('objects/000000.gz', 'objects/0.gz/a')],
  ['without a part', JSON.stringify({ format: 'framelane-backup', version: 1 })],
  ['of an impossible version', writeManifest(MANIFEST).replace('"version": 1', '"version": 0')],
  ['of something else', writeManifest(MANIFEST).replace('framelane-backup', 'other')],
])('a manifest that is %s is damaged', (_, text) => {
  expect(() => read(text)).toThrow(DamagedBackupError);
  expect(() => read(text)).toThrow('backups/the-id/manifest.json is damaged.');
});
