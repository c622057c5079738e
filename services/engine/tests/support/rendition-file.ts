import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest, RenditionManifest } from '@framelane/contracts/manifest';
import { playable } from './hls-rules.ts';
import { ffmpegReport } from './media.ts';
import type { StoredVideos } from './worker-bench.ts';

/** Writes the playable segments of a rendition to one file, and resolves with its path. */
export async function renditionFile(
  bench: StoredVideos,
  videoId: string,
  rendition: RenditionManifest | undefined,
): Promise<string> {
  if (!rendition) throw new Error('A rendition is missing');
  const path = join(bench.directory, `${videoId}-${rendition.name}.ts`);
  await writeFile(path, await playable(bench, videoId, rendition));
  return path;
}

/** Seconds from the first frame until the video gets bright and the audio begins, by the timestamps that players use. */
export async function firstSigns(
  bench: StoredVideos,
  videoId: string,
  { renditions }: Manifest,
): Promise<{ light: number; audio: number }> {
  const video = await renditionFile(bench, videoId, renditions[0]);
  const track = await renditionFile(bench, videoId, renditions.at(-1));
  const report = await ffmpegReport(
    ...['-copyts', '-i', video, '-i', track, '-map', '0:v', '-map', '1:a'],
    ...['-vf', 'blackdetect=d=0.2', '-af', 'silencedetect=noise=-30dB:d=0.2'],
  );
  const [, dark, light] = /black_start:([\d.]+) black_end:([\d.]+)/.exec(report) ?? [];
  const [, audible] = /silence_end: ([\d.]+)/.exec(report) ?? [];
  return { light: Number(light) - Number(dark), audio: Number(audible) - Number(dark) };
}
