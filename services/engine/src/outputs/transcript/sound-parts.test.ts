import { type FileHandle, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { longestBlock } from '@framelane/test-kit/event-loop';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SAMPLE_RATE } from './quiet-cut.ts';
import { nextPart, readWav } from './sound-parts.ts';

/** As long as a part for a local program may be, and more. */
const SECONDS = 700;
const PART = 600 * SAMPLE_RATE;
const ALL = SECONDS * SAMPLE_RATE;

let directory: string;
let handle: FileHandle;

/** Loud sound that is silent from 400 s to 401 s. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sound-'));
  const samples = Int16Array.from({ length: ALL }, (_, at) => (at % 200) * 100);
  samples.fill(0, 400 * SAMPLE_RATE, 401 * SAMPLE_RATE);
  await writeFile(join(directory, 'sound'), samples);
  handle = await open(join(directory, 'sound'));
});
afterAll(async () => {
  await handle.close();
  await rm(directory, { recursive: true });
});

const file = () => ({ handle, bytes: 2 * ALL });

describe('sound is read in parts', () => {
  test('that end in a pause, and the last one at the end', async () => {
    const first = await nextPart(file(), { from: 0, end: ALL, most: PART });
    expect(first.samples / SAMPLE_RATE).toBeCloseTo(400.9, 1);
    expect(first.heard).toEqual({ from: 0, end: 400 * SAMPLE_RATE + SAMPLE_RATE / 10 });
    const rest = await nextPart(file(), { from: first.samples, end: ALL, most: PART });
    expect(rest.samples).toBe(ALL - first.samples);
  });

  test('of which no one blocks the event loop', async () => {
    const blocks: number[] = [];
    // Other processes can hold this one up, but hardly in each of several rounds.
    for (let round = 0; round < 5; round += 1)
      blocks.push(
        await longestBlock(async () => {
          const { heard } = await nextPart(file(), { from: 0, end: ALL, most: PART });
          await readWav(file(), 0, heard?.end ?? 0);
        }),
      );
    // Measured at once, the loudness of such a part takes 25 ms.
    expect(Math.min(...blocks)).toBeLessThan(10);
  });

  test('of which silence is not heard', async () => {
    const [from, end] = [400 * SAMPLE_RATE, 401 * SAMPLE_RATE];
    expect(await nextPart(file(), { from, end, most: PART })).toEqual({
      samples: SAMPLE_RATE,
      heard: undefined,
    });
  });

  test('and fails if the file has become shorter', async () => {
    const request = nextPart(file(), { from: ALL - 100, end: ALL + 100, most: PART });
    await expect(request).rejects.toMatchObject({ code: 'internal_error', retryable: true });
  });
});

test('a WAV file has the samples after its header', async () => {
  const from = 2 * SAMPLE_RATE + 1;
  const wav = await readWav(file(), from, from + 2 * SAMPLE_RATE);
  expect(wav.toString('latin1', 0, 4)).toBe('RIFF');
  const bytes = 4 * SAMPLE_RATE;
  expect([wav.readUInt32LE(4), wav.readUInt32LE(24), wav.readUInt32LE(40), wav.length]).toEqual([
    36 + bytes,
    SAMPLE_RATE,
    bytes,
    44 + bytes,
  ]);
  expect([wav.readInt16LE(44), wav.readInt16LE(46)]).toEqual([100, 200]);
});

test('very short sound has silence after it', async () => {
  const wav = await readWav(file(), 1, 801);
  expect(wav.length).toBe(44 + 2.2 * SAMPLE_RATE);
  expect([wav.readInt16LE(44), wav.readInt16LE(44 + 2 * 799), wav.readInt16LE(44 + 2 * 800)]).toEqual([
    100, 0, 0,
  ]);
});
