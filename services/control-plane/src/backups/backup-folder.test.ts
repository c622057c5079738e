import type { ObjectStore } from '@framelane/object-store/object-store';
import { expect, test } from '@jest/globals';
import { BackupFolder } from './backup-folder.ts';

test.each([
  ['', ['backups/a', 'objects/t/hls/a']],
  ['of/framelane/', ['of/framelane/backups/a', 'of/framelane/objects/t/hls/a']],
])('of a bucket, only unfinished files of the backups below %j are removed', async (prefix, expected) => {
  const unfinished = [
    ...['backups/a', 'objects/t/hls/a', 'photos/a', 'of/other/objects/t/hls/a', 'of/framelane/photos/a'],
    ...['of/framelane/backups/a', 'of/framelane/objects/t/hls/a'],
  ];
  const removed: string[] = [];
  const abortStaleUploads: ObjectStore['abortStaleUploads'] = async (before, isLive) => {
    expect(before).toEqual(new Date(0));
    for (const key of unfinished) if (!(await isLive(key))) removed.push(key);
    return removed.length;
  };
  const folder = new BackupFolder({ abortStaleUploads } as ObjectStore, prefix);
  expect(await folder.removeUnfinished(new Date(0))).toBe(2);
  expect(removed).toEqual(expected);
});
