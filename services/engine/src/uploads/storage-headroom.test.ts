import type { ObjectStore } from '@framelane/object-store/object-store';
import { expect, jest, test } from '@jest/globals';
import { reservedBytes } from '../disk-space.ts';
import { StorageHeadroom } from './storage-headroom.ts';

const GIB = 1024 ** 3;
const FULL = { status: 507, code: 'insufficient_storage' };

/** A disk of 1000 bytes. Its reserve is 50 bytes. */
function headroomWith(freeBytes: number) {
  const disk = { freeBytes, totalBytes: 1000 };
  const diskSpace = jest.fn(async () => ({ ...disk }));
  const headroom = new StorageHeadroom({ diskSpace } as Partial<ObjectStore> as ObjectStore);
  return { disk, headroom, diskSpace };
}

test('the reserve is 2 GiB, or 5 % of a small disk', () => {
  expect(reservedBytes(1000 * GIB)).toBe(2 * GIB);
  expect(reservedBytes(20 * GIB)).toBe(GIB);
});

test('an announced size must fit the headroom that others have not announced', async () => {
  const { headroom } = headroomWith(350);
  await expect(headroom.claim(301)).rejects.toMatchObject(FULL);
  const first = await headroom.claim(200);
  await expect(headroom.claim(101)).rejects.toMatchObject(FULL);
  await headroom.claim(100);
  first.release();
  await headroom.claim(200);
});

test('announced bytes that are written count once', async () => {
  const { disk, headroom } = headroomWith(350);
  const first = await headroom.claim(250);
  await first.take(200);
  disk.freeBytes = 150;
  await expect(headroom.claim(51)).rejects.toMatchObject(FULL);
  await headroom.claim(50);
  await first.take(50);
});

test('bytes without an announced size never use the reserve or what others have announced', async () => {
  const { headroom } = headroomWith(350);
  const unannounced = await headroom.claim(null);
  await headroom.claim(200);
  await unannounced.take(100);
  await expect(unannounced.take(101)).rejects.toMatchObject(FULL);
  const full = headroomWith(110);
  const other = await full.headroom.claim(null);
  await other.take(60);
  full.disk.freeBytes = 50;
  await expect(other.take(1)).rejects.toMatchObject(FULL);
  full.disk.freeBytes = 51;
  await other.take(1);
});

test('an upload fails when other programs have filled the disk', async () => {
  const { disk, headroom } = headroomWith(350);
  const claim = await headroom.claim(300);
  await claim.take(100);
  await headroom.check();
  disk.freeBytes = 50;
  await expect(headroom.check()).rejects.toMatchObject(FULL);
  await expect(claim.take(100)).rejects.toMatchObject(FULL);
});

test('a store without a disk of its own has infinite headroom', async () => {
  const headroom = new StorageHeadroom({} as ObjectStore);
  const claim = await headroom.claim(1e15);
  await claim.take(1e15);
  await headroom.check();
});

test('an upload takes what it has announced, even if the headroom is too small for the others', async () => {
  const { disk, headroom } = headroomWith(350);
  const first = await headroom.claim(200);
  await headroom.claim(100);
  disk.freeBytes = 250;
  // Reads the disk again.
  await headroom.check();
  await first.take(200);
});

test('a reading of the disk is valid for half a second', async () => {
  const now = jest.spyOn(performance, 'now').mockReturnValue(10_000);
  const { headroom, diskSpace } = headroomWith(350);
  const claim = await headroom.claim(300);
  now.mockReturnValue(10_500);
  await claim.take(100);
  expect(diskSpace).toHaveBeenCalledTimes(1);
  now.mockReturnValue(10_501);
  await claim.take(100);
  expect(diskSpace).toHaveBeenCalledTimes(2);
  now.mockRestore();
});
