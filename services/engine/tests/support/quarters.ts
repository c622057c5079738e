import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '@framelane/contracts/manifest';
import { firstFrame, imagePixels } from './media.ts';
import { renditionFile } from './rendition-file.ts';
import type { WorkerBench } from './worker-bench.ts';

/** Red, green and blue, 0..255. */
export type Colour = [number, number, number];

/** The names of the four colours, row by row. */
export const QUARTERS = ['red', 'green', 'blue', 'grey'];

/** The four colours. */
export const QUARTER_COLOURS: Colour[] = [
  [180, 0, 0],
  [0, 180, 0],
  [0, 0, 180],
  [180, 180, 180],
];

/** Test video with four quarters of medium brightness. */
export function quartered(
  seconds: number,
  { width, height } = { width: 320, height: 180 },
  colours = QUARTER_COLOURS,
): string {
  const quarter = `s=${width / 2}x${height / 2}:r=25:d=${seconds}`;
  const hexadecimal = colours.map((colour) => Buffer.from(colour).toString('hex'));
  return (
    `${hexadecimal.map((colour, at) => `color=0x${colour}:${quarter}[q${at}]`).join(';')};` +
    '[q0][q1]hstack[upper];[q2][q3]hstack[lower];[upper][lower]vstack'
  );
}

/** The colours at the centres of the four quarters in the first frame of a rendition, row by row. */
export async function quarters(
  bench: WorkerBench,
  videoId: string,
  manifest: Manifest,
  name = manifest.renditions[0]?.name,
): Promise<Colour[]> {
  const rendition = manifest.renditions.find((rendition) => rendition.name === name);
  if (!rendition) throw new Error('The rendition is missing');
  return coloursOf(await firstFrame(await renditionFile(bench, videoId, rendition)), rendition);
}

/** The same of a stored JPEG image, as viewers see it. */
export async function quartersOfImage(
  { directory, objects }: Pick<WorkerBench, 'directory' | 'objects'>,
  key: string,
): Promise<Colour[]> {
  const path = join(directory, `${key.replaceAll('/', '-')}`);
  await rm(path, { force: true });
  await objects.fetchToFile(key, path, new AbortController().signal);
  const { pixels, ...size } = await imagePixels(path);
  return coloursOf(pixels, size);
}

/** The colours at the centres of the four quarters of a frame, row by row. */
export function coloursOf(
  frame: Buffer,
  { width, height }: Pick<Manifest['renditions'][number], 'width' | 'height'>,
): Colour[] {
  if (!width || !height) throw new Error('The rendition has no size');
  const places = [1, 3].flatMap((row) => [1, 3].map((column) => ({ row, column })));
  return places.map(({ row, column }) => {
    const at = 3 * (Math.floor((row * height) / 4) * width + Math.floor((column * width) / 4));
    return [frame.readUInt8(at), frame.readUInt8(at + 1), frame.readUInt8(at + 2)];
  });
}

/** The largest difference of any component of any colour. */
export function maxDifference(colours: readonly Colour[], expected: readonly Colour[]): number {
  return Math.max(
    ...colours.flatMap((colour, at) =>
      colour.map((value, part) => Math.abs(value - (expected[at]?.[part] ?? Number.NaN))),
    ),
  );
}

/** The dominant component of a colour, or grey. */
export function nameOf([red, green, blue]: Colour): string {
  const most = Math.max(red, green, blue);
  if (most - Math.min(red, green, blue) < 20) return 'grey';
  return most === red ? 'red' : most === green ? 'green' : 'blue';
}
