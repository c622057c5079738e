import type { ObjectStore } from '@framelane/object-store/object-store';
import { expect, test } from '@jest/globals';
import { reservedBytes } from '../disk-space.ts';
import { StorageHeadroom } from './storage-headroom.ts';

const GIB = 1024 ** 3;
const FULL = { status: 507, code: 'insufficient_storage' };

/** A disk of 1000 bytes, of which 50 are the reserve. */
function roomWith(freeBytes: number) {
  const disk = { freeBytes, totalBytes: 1000 };
  const room = new StorageHeadroom({
    room: async () => ({ ...disk }),
  } as Partial<ObjectStore> as ObjectStore);
  return { disk, room };
}

test('the reserve is 2 GiB, or 5 % of a small disk', () => {
  expect(reservedBytes(1000 * GIB)).toBe(2 * GIB);
  expect(reservedBytes(20 * GIB)).toBe(GIB);
});

test('what is announced has to fit beside the reserve and what others have announced', async () => {
  const { room } = roomWith(350);
  await expect(room.claim(301)).rejects.toMatchObject(FULL);
  const first = await room.claim(200);
  await expect(room.claim(101)).rejects.toMatchObject(FULL);
  await room.claim(100);
  first.release();
  await room.claim(200);
});

test('what was announced and has been written is not counted twice', async () => {
  const { disk, room } = roomWith(350);
  const first = await room.claim(300);
  await first.take(200);
  disk.freeBytes = 150;
  await expect(room.claim(1)).rejects.toMatchObject(FULL);
  await first.take(100);
});

test('bytes of no announced number never touch the reserve or what others have announced', async () => {
  const { room } = roomWith(350);
  const unannounced = await room.claim(null);
  await room.claim(200);
  await unannounced.take(60);
  const noMore = roomWith(110);
  const other = await noMore.room.claim(null);
  await other.take(60);
  noMore.disk.freeBytes = 50;
  await expect(other.take(1)).rejects.toMatchObject(FULL);
  noMore.disk.freeBytes = 51;
  await other.take(1);
});

test('an upload ends when others have filled the disk', async () => {
  const { disk, room } = roomWith(350);
  const claim = await room.claim(300);
  await claim.take(100);
  await room.check();
  disk.freeBytes = 50;
  await expect(room.check()).rejects.toMatchObject(FULL);
  await expect(claim.take(100)).rejects.toMatchObject(FULL);
});

test('a store without a disk has room for everything', async () => {
  const room = new StorageHeadroom({} as ObjectStore);
  const claim = await room.claim(1e15);
  await claim.take(1e15);
  await room.check();
});
