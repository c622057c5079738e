import { expect, test } from '@jest/globals';
import { DiskReservations } from './disk-reservations.ts';

/** A disk with free bytes, and its reservations. */
function diskWith(freeBytes: number) {
  const disk = { freeBytes };
  return { disk, space: new DiskReservations(async () => disk.freeBytes) };
}

test('a reservation counts until its bytes are written', async () => {
  const { disk, space } = diskWith(100);
  const job = await space.reserve(70);
  expect(await space.reserve(31)).toBeNull();
  disk.freeBytes = 50;
  job?.changeTo(20);
  expect(await space.reserve(31)).toBeNull();
  expect(await space.reserve(30)).not.toBeNull();
});

test('files that no job needs are deleted one by one, until there is room', async () => {
  const disk = { freeBytes: 10 };
  const unneeded = [20, 30, 40];
  const makeRoom = async () => {
    const bytes = unneeded.shift();
    disk.freeBytes += bytes ?? 0;
    return bytes !== undefined;
  };
  const space = new DiskReservations(async () => disk.freeBytes, makeRoom);
  expect(await space.reserve(60)).not.toBeNull();
  expect(unneeded).toEqual([40]);
  expect(await space.reserve(41)).toBeNull();
  expect(await space.reserve(40)).not.toBeNull();
  disk.freeBytes = -10;
  unneeded.push(5, 5, 5);
  expect(await space.hasDiskSpace()).toBe(true);
  expect(unneeded).toEqual([5]);
});

test('a full disk prevents small jobs, a reservation does not', async () => {
  const { disk, space } = diskWith(100);
  await space.reserve(70);
  disk.freeBytes = 40;
  expect(await space.hasDiskSpace()).toBe(true);
  disk.freeBytes = 0;
  expect(await space.hasDiskSpace()).toBe(true);
  disk.freeBytes = -1;
  expect(await space.hasDiskSpace()).toBe(false);
});

test('a reservation is released once', async () => {
  const { space } = diskWith(100);
  const job = await space.reserve(70);
  job?.changeTo(10);
  expect(await space.reserve(91)).toBeNull();
  job?.release();
  job?.release();
  expect(await space.reserve(101)).toBeNull();
  expect(await space.reserve(100)).not.toBeNull();
});
