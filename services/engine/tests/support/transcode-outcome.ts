import type { Manifest } from '@framelane/contracts/manifest';
import { expectHlsRules } from './hls-rules.ts';
import type { WorkerBench } from './worker-bench.ts';

/** The parts of a result that tests compare. */
export type Outcome = {
  /** Name and size of each rendition. */
  renditions: string[];
  /** Frames a second of the highest rendition. */
  rate: number;
  /** Number of frames of the highest rendition. */
  frames: number;
  audio: boolean;
  issues: string[];
};

/** Transcodes a file and checks the output against the rules of HLS. */
export async function transcodeByTheRules(
  bench: WorkerBench,
  path: string,
): Promise<{ videoId: string; manifest: Manifest; outcome: Outcome }> {
  const { videoId, manifest } = await bench.transcode(path);
  await expectHlsRules(bench, videoId, manifest);
  const renditions = manifest.renditions.filter(({ width }) => width !== null);
  const rate = renditions.at(-1)?.frameRate ?? Number.NaN;
  const outcome = {
    renditions: renditions.map(({ name, width, height }) => `${name} ${width}x${height}`),
    rate: Number(rate.toFixed(3)),
    frames: Math.round(manifest.duration * rate),
    audio: manifest.renditions.length > renditions.length,
    issues: manifest.inputIssues.map(({ code }) => code),
  };
  return { videoId, manifest, outcome };
}
