/**
 * What a watermark costs: `pnpm bench:watermark [file] [--rounds=3]`. Transcodes a video with and without a watermark of 1000 × 500 pixels, from claim to
 * manifest, and prints medians of the CPU time. Without a watermark, too, all renditions are encoded: the default file cannot be copied.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { line, median, print } from '@framelane/test-kit/benchmark-table';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { WorkerBench } from '../support/worker-bench.ts';
import { type Cost, measure } from './support/measure.ts';
import { makeSample } from './support/sources.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '3' } },
});

const directory = await mkdtemp(join(tmpdir(), 'bench-watermark-'));
// Without the sandbox, which hides the CPU times of its processes.
const bench = await WorkerBench.start({
  preset: 'veryfast',
  threads: availableParallelism(),
  sandbox: 'none',
});
try {
  const [file] = positionals;
  const source = file === undefined ? await makeSample(directory, 'camera') : resolve(file);
  const image = join(directory, 'logo.png');
  await ffmpeg('-f', 'lavfi', '-i', 'testsrc2=s=1000x500,format=rgba', '-frames:v', '1', image);
  const watermark = {
    ...({ format: 'png', corner: 'top-right', opacity: 0.8, width: 0.15, margin: 0.03 } as const),
    image: (await readFile(image)).toString('base64'),
  };
  const rounds: { without: Cost; withMark: Cost }[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const run = (mark?: typeof watermark) =>
      measure(async () => {
        bench.watermark = mark;
        await bench.transcode(source);
      });
    rounds.push({ without: await run(), withMark: await run(watermark) });
  }
  const seconds = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick)).toFixed(2);
  print(line(['', 'CPU seconds']));
  print(line(['without a watermark', seconds(({ without }) => without.cpuSeconds)]));
  print(line(['with a watermark', seconds(({ withMark }) => withMark.cpuSeconds)]));
  print(line(['ratio', seconds(({ without, withMark }) => withMark.cpuSeconds / without.cpuSeconds)]));
} finally {
  await bench.stop();
  await rm(directory, { recursive: true });
}
