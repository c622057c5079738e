import type { Manifest } from '@framelane/contracts/manifest';
import { expectHlsRules } from './hls-rules.ts';
import type { WorkerBench } from './worker-bench.ts';

/** What of a result tables of tests tell. */
export type Outcome = {
  /** Name, width and height of each. */
  rungs: string[];
  /** Frames a second of the top rung. */
  rate: number;
  /** Of the top rung; the rules see to it that so many are there. */
  frames: number;
  sound: boolean;
  issues: string[];
};

/** Transcodes a file and checks what came of it against the rules of HLS. */
export async function transcodeByTheRules(
  bench: WorkerBench,
  path: string,
): Promise<{ videoId: string; manifest: Manifest; outcome: Outcome }> {
  const { videoId, manifest } = await bench.transcode(path);
  await expectHlsRules(bench, videoId, manifest);
  const rungs = manifest.renditions.filter(({ width }) => width !== null);
  const rate = rungs.at(-1)?.frameRate ?? Number.NaN;
  const outcome = {
    rungs: rungs.map(({ name, width, height }) => `${name} ${width}x${height}`),
    rate: Number(rate.toFixed(3)),
    frames: Math.round(manifest.duration * rate),
    sound: manifest.renditions.length > rungs.length,
    issues: manifest.inputIssues.map(({ code }) => code),
  };
  return { videoId, manifest, outcome };
}
