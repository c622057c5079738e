import { DamagedBackupError, UnknownFormatError } from '@framelane/control-plane/backups/backup-errors';
import { readManifest, writeManifest } from '@framelane/control-plane/backups/manifest';
import { JSON_WORDS } from '../json-words.ts';
import { expectSame, expectThat, refusedWith } from '../promises.ts';
import type { Target } from '../target.ts';

export const target: Target = {
  maxBytes: 2048,
  steps: { fixed: 2_000, perByte: 20 },
  libraries: ['zod'],
  dictionary: [
    ...JSON_WORDS,
    '"format":"framelane-backup"',
    '"version":1',
    '"tables":',
    '"objects":',
    '"lists":',
    '"objects/1.gz"',
    '"sha256":"a"',
  ],
  seeds: [
    writeManifest({
      startedAt: '2026-01-01T00:00:00.000Z',
      snapshotAt: '2026-01-01T00:00:00.000Z',
      completedAt: '2026-01-01T00:00:00.000Z',
      migrations: ['a'],
      tables: [{ name: 'videos', columns: ['id'], rows: 1, sha256: 'a' }],
      objects: { count: 1, bytes: 1, missing: 0, lists: [{ name: 'objects/1.gz', sha256: 'a' }] },
      secrets: { sha256: 'a' },
    }),
  ],
  run: (input) => {
    const read = (text: string) =>
      refusedWith([DamagedBackupError, UnknownFormatError], () =>
        readManifest(text, 'backup', 'manifest.json'),
      );
    const manifest = read(input.toString());
    if (manifest !== undefined)
      expectSame(
        read(writeManifest(manifest)),
        manifest,
        'a manifest does not change when it is written again',
      );
    for (const { name } of manifest?.objects.lists ?? [])
      expectThat(!name.includes('..'), 'a list is in the folder of the backup');
  },
};
