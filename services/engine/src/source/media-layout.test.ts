import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readContainerIndex } from './media-layout.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-layout-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function readIndexOf(...parts: Buffer[]) {
  const path = join(directory, 'file');
  await writeFile(path, Buffer.concat(parts));
  return readContainerIndex(path);
}

/** A box with some content. `size` replaces the size that it declares. */
function box(type: string, contentBytes: number, size = 8 + contentBytes): Buffer {
  const bytes = Buffer.alloc(8 + contentBytes);
  bytes.writeUInt32BE(size);
  bytes.write(type, 4);
  return bytes;
}

/** A box whose size has 64 bits. `size` replaces the size that it declares. */
function largeBox(type: string, contentBytes: number, size = 16 + contentBytes): Buffer {
  const bytes = Buffer.alloc(16 + contentBytes);
  bytes.writeUInt32BE(1);
  bytes.write(type, 4);
  bytes.writeBigUInt64BE(BigInt(size), 8);
  return bytes;
}

const FTYP = box('ftyp', 16);
const MOOV = box('moov', 100);

test.each([
  [
    'the index at the end',
    [FTYP, box('mdat', 1000), MOOV],
    1140,
    [
      [0, 32],
      [1032, 1140],
    ],
  ],
  ['the index first', [FTYP, MOOV, box('free', 12), box('mdat', 1000)], 1160, [[0, 160]]],
  ['an empty box', [FTYP, MOOV, box('free', 0), box('mdat', 1000)], 1148, [[0, 148]]],
  [
    'a size of 64 bits',
    [FTYP, largeBox('mdat', 1000), MOOV],
    1148,
    [
      [0, 40],
      [1040, 1148],
    ],
  ],
  ['a last box without a size', [FTYP, MOOV, box('mdat', 1000, 0)], 1140, [[0, 140]]],
  [
    'two boxes of media data',
    [FTYP, box('mdat', 50), MOOV, box('mdat', 50)],
    248,
    [
      [0, 32],
      [82, 198],
    ],
  ],
])('a file with %s', async (_, parts, bytes, index) => {
  expect(await readIndexOf(...parts)).toEqual({ bytes, index });
});

test.each([
  ['is fragmented', [FTYP, MOOV, box('moof', 50), box('mdat', 100)]],
  ['has no index', [FTYP, box('mdat', 100)]],
  ['has no media data', [FTYP, MOOV]],
  ['is truncated', [FTYP, MOOV, box('mdat', 100).subarray(0, 50)]],
  ['ends in the header of a box', [FTYP, MOOV, box('mdat', 100), Buffer.alloc(4)]],
  ['has a box smaller than its header', [FTYP, MOOV, box('mdat', 100, 7)]],
  ['has a large box smaller than its header', [FTYP, MOOV, largeBox('mdat', 100, 8)]],
  ['has a huge box', [FTYP, MOOV, largeBox('mdat', 100).fill(0xff, 8, 16)]],
  ['has many boxes', [FTYP, MOOV, ...Array.from({ length: 62 }, () => box('mdat', 10)), box('free', 0)]],
  ['is empty', []],
])('a file that %s has no usable index', async (_, parts) => {
  expect(await readIndexOf(...parts)).toBeNull();
});
