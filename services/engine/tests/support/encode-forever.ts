/** Runs the confined ffmpeg with endless test video: `node encode-forever.ts <ffmpeg> <directory>`. */
import { runFfmpeg } from '../../src/ffmpeg/run-ffmpeg.ts';

const [program = '', cwd = ''] = process.argv.slice(2);

await runFfmpeg(
  {
    inputOptions: ['-re', '-f', 'lavfi'],
    input: 'testsrc2=s=64x64',
    outputs: [{ options: ['-f', 'null'], path: '-' }],
  },
  {
    program,
    cwd,
    signal: new AbortController().signal,
    limitSeconds: 60,
    memoryBytes: Number.POSITIVE_INFINITY,
    stallSeconds: 60,
    mustPause: () => false,
    progressKey: 'frame',
    onProgress: () => process.stdout.write('encoding\n'),
  },
);
