import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createLogger } from '@framelane/service-kit/logger';
import { longestBlock } from '@framelane/test-kit/event-loop';
import { processesUsing } from '@framelane/test-kit/processes';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type MediaTools, prepareMediaTools } from '../../src/ffmpeg/media-tools.ts';
import { type FfmpegRunOptions, runFfmpeg } from '../../src/ffmpeg/run-ffmpeg.ts';
import { runTool } from '../../src/sandbox/run-tool.ts';
import { DEFAULT_TRANSCODE_LIMITS, type Sandbox } from '../../src/transcode-settings.ts';
import { workingSandboxes } from '../support/sandboxes.ts';

const SANDBOXES = workingSandboxes();
const FOREVER = {
  inputOptions: ['-re', '-f', 'lavfi'],
  input: 'testsrc2=s=64x64',
  outputs: [{ options: ['-f', 'null'], path: '-' }],
};

let directory: string;
const tools = {} as Record<Sandbox, MediaTools>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'run-ffmpeg-'));
  const logger = createLogger({ service: 'test', level: 'error' });
  for (const sandbox of SANDBOXES) {
    const workDir = join(directory, sandbox);
    await mkdir(workDir);
    tools[sandbox] = await prepareMediaTools({ workDir, sandbox, limits: DEFAULT_TRANSCODE_LIMITS }, logger);
  }
});
afterAll(() => rm(directory, { recursive: true }));

const options = (sandbox: Sandbox, changes: Partial<FfmpegRunOptions> = {}): FfmpegRunOptions => ({
  program: tools[sandbox].ffmpeg,
  cwd: join(directory, sandbox),
  signal: new AbortController().signal,
  limitSeconds: 20,
  stallSeconds: 20,
  memoryBytes: DEFAULT_TRANSCODE_LIMITS.memoryBytes,
  progressKey: 'frame',
  onProgress: () => {},
  mustPause: () => false,
  ...changes,
});

describe.each(SANDBOXES)('ffmpeg with sandbox %s', (sandbox) => {
  test('reports progress', async () => {
    const frames: number[] = [];
    await runFfmpeg(
      { ...FOREVER, inputOptions: ['-f', 'lavfi'], input: 'testsrc2=s=64x64:d=3' },
      options(sandbox, { onProgress: (count) => frames.push(count) }),
    );
    expect(frames.at(-1)).toBe(75);
    expect(frames).toEqual(frames.toSorted((a, b) => a - b));
  });

  test('fails with its stderr', async () => {
    const running = runFfmpeg({ ...FOREVER, input: 'no_such_source' }, options(sandbox));
    await expect(running).rejects.toMatchObject({
      end: 'exit',
      stderr: expect.stringContaining('no_such_source'),
    });
  });

  test('is killed when it exceeds its memory limit', async () => {
    // Larger than the programs that confine ffmpeg, and smaller than ffmpeg's libraries.
    const running = runFfmpeg(FOREVER, options(sandbox, { memoryBytes: 16 * 1024 ** 2 }));
    await expect(running).rejects.toMatchObject({ end: 'memory' });
    await until(async () => (await processesUsing(directory)).length === 0);
  });

  test('pauses on demand without being killed as hung', async () => {
    const enough = new AbortController();
    const reason = new Error('Enough');
    let hasBegun = false;
    let checks = 0;
    let progressInPause = 0;
    const running = runFfmpeg(
      FOREVER,
      options(sandbox, {
        signal: enough.signal,
        stallSeconds: 5,
        onProgress: () => {
          hasBegun = true;
          if (checks >= 13) enough.abort(reason);
          // The first checks leave time for progress from before the pause.
          else if (checks >= 3) progressInPause += 1;
        },
        // Checked twice a second, so the pause is longer than `stallSeconds`.
        mustPause: () => hasBegun && ++checks < 13,
      }),
    );
    await expect(running).rejects.toBe(reason);
    expect(checks).toBeGreaterThanOrEqual(13);
    expect(progressInPause).toBe(0);
  });

  test('is killed when aborted', async () => {
    const abort = new AbortController();
    const reason = new Error('Enough');
    const running = runFfmpeg(
      FOREVER,
      options(sandbox, { signal: abort.signal, onProgress: () => abort.abort(reason) }),
    );
    await expect(running).rejects.toBe(reason);
    expect(await processesUsing(directory)).toEqual([]);
  });

  test('is killed after its time limit', async () => {
    const running = runFfmpeg(FOREVER, options(sandbox, { limitSeconds: 1 }));
    await expect(running).rejects.toMatchObject({ end: 'timeout' });
    expect(await processesUsing(directory)).toEqual([]);
  });

  test('does not survive its engine', async () => {
    const script = join(import.meta.dirname, '../support/encode-forever.ts');
    const workDir = join(directory, `${sandbox}-engine`);
    await mkdir(workDir);
    const engine = spawn(process.execPath, [script, sandbox, workDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(engine.stdout, 'data');
    const running = (await processesUsing(directory)).filter(({ pid }) => pid !== engine.pid);
    expect(running).not.toEqual([]);
    engine.kill('SIGKILL');
    await until(async () => (await processesUsing(directory)).length === 0);
  });
});

test('an ffmpeg that hangs and ignores signals is killed', async () => {
  const program = join(directory, 'deaf');
  await writeFile(program, `#!/bin/sh\nexec setsid sh -c 'trap "" TERM; while :; do sleep 1; done'\n`);
  await chmod(program, 0o700);
  const running = runFfmpeg(FOREVER, options('none', { program, stallSeconds: 0.5 }));
  await expect(running).rejects.toMatchObject({ end: 'stalled' });
  await until(async () => (await processesUsing(directory)).length === 0);
});

test('the script that starts ffmpeg has no environment variable but PATH', async () => {
  const program = join(directory, 'environment');
  await writeFile(program, '#!/bin/sh\nenv >&2\nexit 1\n', { mode: 0o700 });
  process.env.FRAMELANE_TEST_SECRET = 'a secret of the engine';
  const { signal } = new AbortController();
  const tool = { cwd: directory, signal, limitSeconds: 10, onLine: () => {} };
  const runs = [() => runFfmpeg(FOREVER, options('none', { program })), () => runTool(program, [], tool)];
  for (const run of runs) {
    const { stderr } = await run().then(
      () => ({ stderr: '' }),
      (error: { stderr: string }) => error,
    );
    const names = stderr.split('\n').flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []);
    // The shell itself sets PWD.
    expect(names.filter((name) => name !== 'PWD')).toEqual(['PATH']);
  }
});

test('the time in which the engine is suspended does not count for the time limit of a tool', async () => {
  const runTool = join(import.meta.dirname, '../../src/sandbox/run-tool.ts');
  const tool = ['sh', ['-c', 'echo begun; sleep 0.2']];
  const program = `
    import { runTool } from '${runTool}';
    const options = { cwd: '/', signal: new AbortController().signal, limitSeconds: 1, onLine: console.log };
    await runTool(...${JSON.stringify(tool)}, options);
    console.log('ended');`;
  const engine = spawn(process.execPath, ['--input-type=module', '-e', program]);
  let output = '';
  const append = (chunk: Buffer) => {
    output += chunk.toString('utf8');
  };
  engine.stdout.on('data', append);
  engine.stderr.on('data', append);
  const closed = once(engine, 'close');
  await until(() => output.includes('begun'), { longestPauseMs: 5, details: () => output });
  engine.kill('SIGSTOP');
  await setTimeout(1_500);
  engine.kill('SIGCONT');
  expect(await closed).toEqual([0, null]);
  expect(output).toMatch(/^begun\nended\n$/);
});

test('a program that cannot be started is an error, not a crash', async () => {
  const program = join(directory, 'nothing');
  await expect(runFfmpeg(FOREVER, options('none', { program }))).rejects.toMatchObject({ name: 'Error' });
});

test('long lines of ffmpeg do not block the event loop', async () => {
  const program = join(directory, 'long-lines');
  const script = "head -c 60000000 /dev/zero | tr '\\0' a | fold -w 1000000 >&2; exit 1";
  await writeFile(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
  const block = await longestBlock(async () => {
    const running = runFfmpeg(FOREVER, { ...options('none'), program, cwd: directory });
    await expect(running).rejects.toMatchObject({ name: 'ToolError' });
  });
  expect(block).toBeLessThan(100);
});
