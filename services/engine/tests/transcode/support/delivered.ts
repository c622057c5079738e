import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '@framelane/contracts/manifest';
import { ffmpegReport, firstPicture } from '../../support/media.ts';
import { decrypted } from './hls-rules.ts';
import type { WorkerBench } from './worker-bench.ts';

/** Red, green and blue, 0..255. */
export type Colour = [number, number, number];

/** The colours in the middle of the four quarters of the first picture delivered in the lowest rung, row by row. */
export async function quarters(bench: WorkerBench, videoId: string, manifest: Manifest): Promise<Colour[]> {
  const [rung] = manifest.renditions;
  if (!rung?.width || !rung.height) throw new Error('There is no rung');
  const { width, height } = rung;
  const path = join(bench.directory, `${videoId}-${rung.name}.ts`);
  const [segment = ''] = await decrypted(bench, videoId, rung);
  await writeFile(path, segment);
  const frame = await firstPicture(path);
  const places = [1, 3].flatMap((row) => [1, 3].map((column) => ({ row, column })));
  return places.map(({ row, column }) => {
    const at = 3 * (Math.floor((row * height) / 4) * width + Math.floor((column * width) / 4));
    return [frame.readUInt8(at), frame.readUInt8(at + 1), frame.readUInt8(at + 2)];
  });
}

/** Seconds at which the first picture that is not black is shown, and the first sound is heard, on the clock of players. */
export async function firstSigns(
  bench: WorkerBench,
  videoId: string,
  { renditions }: Manifest,
): Promise<{ light: number; sound: number }> {
  const seen = async (at: number, filter: string, sign: RegExp) => {
    const rendition = renditions.at(at);
    if (!rendition) throw new Error('A rendition is missing');
    const path = join(bench.directory, `${videoId}-${rendition.name}.ts`);
    await writeFile(path, Buffer.concat(await decrypted(bench, videoId, rendition)));
    const report = await ffmpegReport(
      '-copyts',
      '-i',
      path,
      filter.startsWith('black') ? '-vf' : '-af',
      filter,
    );
    return Number(sign.exec(report)?.[1]);
  };
  return {
    light: await seen(0, 'blackdetect=d=0.2', /black_end:([\d.]+)/),
    sound: await seen(-1, 'silencedetect=noise=-30dB:d=0.2', /silence_end: ([\d.]+)/),
  };
}
