/** Runs the confined ffmpeg with endless test video, as an engine does: `node encode-forever.ts <sandbox> <directory>`. */
import { createLogger } from '@framelane/service-kit/logger';
import { prepareMediaTools } from '../../src/ffmpeg/media-tools.ts';
import { runFfmpeg } from '../../src/ffmpeg/run-ffmpeg.ts';
import { DEFAULT_TRANSCODE_LIMITS, type Sandbox } from '../../src/transcode-settings.ts';

const [sandbox, workDir = ''] = process.argv.slice(2) as [Sandbox, string];
const tools = await prepareMediaTools(
  { workDir, sandbox, limits: DEFAULT_TRANSCODE_LIMITS },
  createLogger({ service: 'test', level: 'error' }),
);

await runFfmpeg(
  {
    inputOptions: ['-re', '-f', 'lavfi'],
    input: 'testsrc2=s=64x64',
    outputs: [{ options: ['-f', 'null'], path: '-' }],
  },
  {
    program: tools.ffmpeg,
    cwd: workDir,
    signal: new AbortController().signal,
    limitSeconds: 60,
    memoryBytes: Number.POSITIVE_INFINITY,
    stallSeconds: 60,
    mustPause: () => false,
    progressKey: 'frame',
    onProgress: () => process.stdout.write('encoding\n'),
  },
);
