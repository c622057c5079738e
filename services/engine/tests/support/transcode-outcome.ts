import type { Manifest } from '@framelane/contracts/manifest';
import { expectHlsRules } from './hls-rules.ts';
import type { WorkerBench } from './worker-bench.ts';

/** The parts of a result that tests compare. */
export type Outcome = {
  /** Name and size of each rung. */
  rungs: string[];
  /** Frames a second of the top rung. */
  rate: number;
  /** Number of frames of the top rung. */
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
  const rungs = manifest.renditions.filter(({ width }) => width !== null);
  const rate = rungs.at(-1)?.frameRate ?? Number.NaN;
  const outcome = {
    rungs: rungs.map(({ name, width, height }) => `${name} ${width}x${height}`),
    rate: Number(rate.toFixed(3)),
    frames: Math.round(manifest.duration * rate),
    audio: manifest.renditions.length > rungs.length,
    issues: manifest.inputIssues.map(({ code }) => code),
  };
  return { videoId, manifest, outcome };
}
