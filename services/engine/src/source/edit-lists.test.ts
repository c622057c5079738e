import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { box } from '../../tests/support/mp4-boxes.ts';
import { type Edit, editFlaw, readEditLists, shownParts, shownUntil } from './edit-lists.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-edit-lists-'));
});
afterAll(() => rm(directory, { recursive: true }));

const edit = (from: number | null, lasts: number, rate = 1): Edit => ({ from, lasts, rate });

test.each<[string, ReturnType<typeof editFlaw>, Edit[], boolean]>([
  ['nothing', null, [], false],
  ['a part', null, [edit(2, 3)], false],
  ['several parts after a delay', null, [edit(null, 1), edit(null, 1), edit(4, 3), edit(2, 3)], false],
  ['a delay alone', null, [edit(null, 1)], false],
  ['a gap', 'gap', [edit(2, 3), edit(null, 1), edit(5, 1)], false],
  ['nothing at the end', null, [edit(2, 3), edit(null, 1), edit(null, 1)], false],
  ['a gap without a duration', null, [edit(2, 3), edit(null, 0), edit(5, 1)], false],
  ['a delay with another speed', null, [edit(null, 1, 0), edit(2, 3)], false],
  ['half the speed', 'speed', [edit(2, 3, 0.5)], false],
  ['a frame that stays', 'speed', [edit(2, 3), edit(5, 3, 0)], false],
  ['no rate', null, [edit(2, 3, 0)], false],
  ['too many entries', 'entries', Array.from({ length: 10_001 }, () => edit(2, 3)), false],
  ['as many entries as allowed', null, Array.from({ length: 10_000 }, () => edit(2, 3)), false],
  ['a part of fragments', null, [edit(null, 1), edit(2, Number.POSITIVE_INFINITY)], true],
  ['several parts of fragments', 'fragments', [edit(2, 3), edit(6, 3)], true],
])('the flaw of an edit list with %s is %s', (_, flaw, edits, isFragmented) => {
  expect(editFlaw(edits, isFragmented)).toBe(flaw);
});

test.each<[string, number, Edit[], boolean]>([
  ['nothing', Number.POSITIVE_INFINITY, [], false],
  ['a delay alone', Number.POSITIVE_INFINITY, [edit(null, 1)], false],
  ['a part', Number.POSITIVE_INFINITY, [edit(null, 1), edit(2, 3)], false],
  ['a part before an empty edit', 4, [edit(null, 1), edit(2, 3), edit(null, 1)], false],
  [
    'a part before an empty edit of no duration',
    Number.POSITIVE_INFINITY,
    [edit(2, 3), edit(null, 0)],
    false,
  ],
  ['a part of fragments before an empty edit', Number.POSITIVE_INFINITY, [edit(2, 3), edit(null, 1)], true],
])('a track with an edit list of %s is shown until %s', (_, end, edits, isFragmented) => {
  expect(shownUntil(edits, isFragmented)).toBe(end);
});

test('the parts of a track are shown one after the other', () => {
  expect(shownParts([edit(null, 1), edit(4, 3), edit(2, 1)], 0.5)).toEqual([
    { at: 0.5, from: 4, lasts: 3 },
    { at: 3.5, from: 2, lasts: 1 },
  ]);
  expect(shownParts(undefined, -1)).toEqual([{ at: 1, from: 0, lasts: Number.POSITIVE_INFINITY }]);
});

/** A header of version 0 or 1, whose times precede the number. */
function header(type: string, number: number, version = 0): Buffer {
  const content = Buffer.alloc(40);
  content[0] = version;
  content.writeUInt32BE(number, version === 0 ? 12 : 20);
  return box(type, content);
}

function list(
  entries: readonly [duration: number, time: number, rate?: number][],
  count = entries.length,
): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(count, 4);
  const content = entries.map(([duration, time, rate = 1]) => {
    const entry = Buffer.alloc(12);
    entry.writeUInt32BE(duration);
    entry.writeInt32BE(time, 4);
    entry.writeInt32BE(rate * 65_536, 8);
    return entry;
  });
  return box('elst', Buffer.concat([head, ...content]));
}

/** The same with times of 64 bits. */
function largeList(duration: bigint, time: bigint): Buffer {
  const content = Buffer.alloc(28);
  content[0] = 1;
  content.writeUInt32BE(1, 4);
  content.writeBigUInt64BE(duration, 8);
  content.writeBigInt64BE(time, 16);
  content.writeInt32BE(65_536, 24);
  return box('elst', content);
}

const track = (id: number, edits: Buffer, version = 0) =>
  box(
    'trak',
    Buffer.concat([
      ...[header('tkhd', id, version), box('edts', edits)],
      box('mdia', header('mdhd', 12_800, version)),
    ]),
  );

async function read(...boxes: Buffer[]) {
  const path = join(directory, 'file');
  await writeFile(path, Buffer.concat([box('ftyp', Buffer.alloc(8)), ...boxes]));
  const { isFragmented, tracks } = await readEditLists(path);
  return { isFragmented, tracks: [...tracks] };
}

const movie = (...boxes: Buffer[]) => box('moov', Buffer.concat([header('mvhd', 1000), ...boxes]));

test.each<[string, Buffer, Edit[]]>([
  [
    'an edit list',
    track(
      7,
      list([
        [500, -1],
        [2000, 12_800],
      ]),
    ),
    [edit(null, 0.5), edit(1, 2)],
  ],
  ['another speed', track(7, list([[2000, 0, 0.5]])), [edit(0, 2, 0.5)]],
  ['large times', track(7, largeList(3000n, 25_600n), 1), [edit(2, 3)]],
  [
    'an edit list that counts fewer entries than it has',
    track(
      7,
      list(
        [
          [2000, 0],
          [1000, -1],
        ],
        1,
      ),
    ),
    [edit(0, 2), edit(null, 1)],
  ],
  [
    'the last of two edit lists',
    track(7, Buffer.concat([list([[1000, 0]]), list([[2000, 12_800]])])),
    [edit(1, 2)],
  ],
  ['an edit list that ends early', track(7, list([[2000, 0]], 5)), [edit(0, 2)]],
])('%s is read', async (_, content, edits) => {
  expect(await read(movie(track(3, Buffer.of()), content))).toEqual({
    isFragmented: false,
    tracks: [[7, edits]],
  });
});

test('in fragments, no duration stands for all of the media', async () => {
  expect(await read(movie(box('mvex', Buffer.of()), track(1, list([[0, 12_800]]))))).toEqual({
    isFragmented: true,
    tracks: [[1, [edit(1, Number.POSITIVE_INFINITY)]]],
  });
});

test.each<[string, Buffer[]]>([
  ['without an index', [box('mdat', Buffer.alloc(20))]],
  ['with an empty index', [box('moov', Buffer.of())]],
  ['with an empty edit list', [movie(track(1, box('elst', Buffer.of())))]],
  ['with a box that extends beyond its parent', [movie(track(1, list([[1, 0]]).fill(0xff, 0, 4)))]],
  ['that ends in its index', [movie(track(1, list([[1, 0]]))).subarray(0, 80)]],
])('a file %s has no edit lists', async (_, boxes) => {
  expect((await read(...boxes)).tracks).toEqual([]);
});

test('an edit list of too many entries is read as such', async () => {
  const entries = Array.from({ length: 10_002 }, () => [2000, 0] as [number, number]);
  const [[, edits] = []] = (await read(movie(track(7, list(entries))))).tracks;
  expect(editFlaw(edits ?? [], false)).toBe('entries');
});

const boxes = (count: number) => Buffer.concat(Array.from({ length: count }, () => box('free', Buffer.of())));

test('boxes up to a limit are checked', async () => {
  const index = movie(track(1, list([[1000, 0]])));
  const tracks = [[1, [edit(0, 1)]]];
  expect(await read(boxes(254), index, boxes(256))).toMatchObject({ tracks });
  expect(await read(movie(boxes(254), track(1, list([[1000, 0]]))))).toMatchObject({ tracks });
});

test.each<[string, Buffer[]]>([
  ['before its index', [boxes(256), movie(track(1, list([[1, 0]])))]],
  ['in its index', [movie(boxes(256), track(1, list([[1, 0]])))]],
])('a file with more boxes %s is refused', async (_, content) => {
  await expect(read(...content)).rejects.toMatchObject({
    code: 'malformed_media',
    message: expect.stringContaining('more than 256 boxes'),
  });
});
