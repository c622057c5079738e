/** What the engine does with the output of an ffmpeg that was taken over. It runs without a sandbox, which allows most. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { makeClip } from '@framelane/test-kit/clips';
import { processesUsing } from '@framelane/test-kit/processes';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { WorkerBench } from '../support/worker-bench.ts';

jest.setTimeout(60_000);

const run = promisify(execFile);
const { PATH } = process.env;

let bench: WorkerBench;
let clip: string;
let secret: string;
/** Whole segments of the length that the job expects. */
let segment: string;
/** What ffmpeg does in place of an encode, and after one. */
let instead: string;
let afterwards: string;

beforeAll(async () => {
  const { stdout } = await run('sh', ['-c', 'command -v ffmpeg']);
  bench = await WorkerBench.start({
    sandbox: 'none',
    // Found by the engine before the real one.
    prepare: async (directory) => {
      // For an engine that is root: its ffmpeg is another user, who is to do the same as the engine's own could.
      await chmod(directory, 0o777);
      const programs = join(directory, 'programs');
      await mkdir(programs);
      const script = [
        '#!/bin/sh',
        `case "$*" in *-progress*) ;; *) exec ${stdout.trim()} "$@" ;; esac`,
        `if [ -s '${directory}/instead' ]; then . '${directory}/instead'; exit 0; fi`,
        `${stdout.trim()} "$@" && . '${directory}/afterwards'`,
      ];
      await writeFile(join(programs, 'ffmpeg'), `${script.join('\n')}\n`);
      await chmod(join(programs, 'ffmpeg'), 0o755);
      process.env.PATH = `${programs}${delimiter}${PATH}`;
    },
  });
  const made = (name: string) => join(bench.directory, name);
  [instead, afterwards, secret] = [made('instead'), made('afterwards'), made('secrets.json')];
  await writeFile(secret, 'the secret that seals all keys');
  await chmod(secret, 0o666);
  clip = await makeClip(made('clip.mp4'), {
    video: 'testsrc2=s=64x64:r=25:d=1',
    options: ['-c:v', 'mpeg4'],
  });
  segment = await makeClip(made('segment.ts'), { video: 'testsrc2=s=64x64:r=25:d=1', options: ['-bf', '0'] });
});
afterAll(async () => {
  process.env.PATH = PATH;
  await bench.stop();
});

/**
 * The failure of a job whose ffmpeg does so, once it has left nothing behind. Scripts use `cd -P`: a plain `cd` begins at
 * the root, where the user of ffmpeg may not pass.
 */
async function failureOf(script: { instead?: string; afterwards?: string }) {
  await writeFile(instead, script.instead ?? '');
  await writeFile(afterwards, script.afterwards ?? ':');
  const videoId = await bench.submit(clip);
  const { code, retryable } = await bench.failure(videoId);
  expect(await bench.stored(videoId)).toEqual([]);
  await until(async () => (await readdir(join(bench.workDir, 'jobs'))).length === 0);
  expect(await processesUsing(bench.workDir)).toEqual([]);
  expect(await readFile(secret, 'utf8')).toContain('the secret');
  return [code, retryable];
}

/** Nothing comes of a file like this: the video fails for good. */
const HOSTILE = ['transcode_failed', false];
/** The disk may have been full: another attempt may succeed. */
const INCOMPLETE = ['internal_error', true];

describe.each(['360p-0.ts', 'poster.jpg', 'storyboard.jpg'])('in place of %s', (name) => {
  const path = `output/${name}`;
  const replace = (command: string) => {
    const script = `rm -rf ${path}; ${command}`;
    return name.endsWith('.ts') ? { instead: script } : { afterwards: script };
  };

  test.each([
    ['a link', () => `ln -s '${secret}' ${path}`],
    ['a link to a link', () => `ln -s '${secret}' output/x; ln -s x ${path}`],
    ['a link to nothing', () => `ln -s nothing ${path}`],
    ['a hard link', () => `ln '${secret}' ${path}`],
    ['a hard link to another output', () => `cp '${segment}' output/x; ln output/x ${path}`],
    ['a FIFO', () => `mkfifo ${path}`],
    ['a folder', () => `mkdir -p ${path}/x/y`],
    ['a device that never ends', () => `mknod ${path} c 1 5 || mkfifo ${path}`],
    ['a file too large', () => `truncate -s 100M ${path}`],
    ['text', () => `cp '${secret}' ${path}`],
  ])('%s fails the video', async (_, command) => {
    expect(await failureOf(replace(command()))).toEqual(HOSTILE);
  });
});

describe('a segment', () => {
  const cut = (bytes: number) => ({ instead: `head -c ${bytes} '${segment}' > output/360p-0.ts` });

  test('that ends within a packet was cut off', async () => {
    const { size } = await stat(segment);
    expect(await failureOf(cut(size - 100))).toEqual(INCOMPLETE);
  });

  test('that ends too early was cut off', async () => {
    const { size } = await stat(segment);
    expect(await failureOf(cut(188 * Math.floor((0.8 * size) / 188)))).toEqual(INCOMPLETE);
  });

  test('that is empty has nothing of the video', async () => {
    expect(await failureOf(cut(0))).toEqual(['malformed_media', false]);
  });

  test('with packets missing in the middle was cut off', async () => {
    const script = `(head -c 18800 '${segment}'; head -c 188 /dev/zero; tail -c 18800 '${segment}') > output/360p-0.ts`;
    expect(await failureOf({ instead: script })).toEqual(INCOMPLETE);
  });

  test.each(['360p-99999999999999999999999.ts', '360p-2.ts'])('called %s is too many', async (name) => {
    expect(await failureOf({ instead: `cp '${segment}' output/${name}` })).toEqual([
      'malformed_media',
      false,
    ]);
  });
});

test.each(['poster.jpg', 'storyboard.jpg'])('half of %s was cut off', async (name) => {
  const half = `head -c 500 output/${name} > output/x; mv output/x output/${name}`;
  expect(await failureOf({ afterwards: half })).toEqual(INCOMPLETE);
});

test('a FIFO for every segment blocks nothing', async () => {
  const fifos = [
    '360p-0.ts',
    '360p-1.ts',
    'audio-0.ts',
    'audio-1.ts',
    '480p-0.ts',
    '720p-0.ts',
    '1080p-0.ts',
  ];
  expect(await failureOf({ instead: `cd -P output; mkfifo ${fifos.join(' ')}` })).toEqual(HOSTILE);
});

test('another folder in place of the output is not read', async () => {
  const script = `mkdir -p other; cp '${segment}' other/360p-0.ts; mv output away; ln -s other output`;
  expect(await failureOf({ instead: script })).toEqual(INCOMPLETE);
});

test('folders that cannot be entered or are deeper than a path can be long are removed', async () => {
  const script = [
    'cd -P output; mkdir closed; touch closed/file; chmod 000 closed',
    // 300 folders of 100 characters.
    `name=$(printf 'x%.0s' $(seq 100)); for i in $(seq 300); do mkdir "$name"; cd -P "$name" 2>/dev/null || break; done`,
  ].join('\n');
  expect(await failureOf({ instead: script })).toEqual(INCOMPLETE);
});

test('a program that is left over and holds the pipes open holds nothing up', async () => {
  const pid = join(bench.directory, 'left-over');
  await writeFile(instead, `setsid sh -c 'cd /; echo $$ > ${pid}; exec tail -f /dev/null' & sleep 0.2`);
  const videoId = await bench.submit(clip);
  expect(await bench.failure(videoId)).toMatchObject({ code: 'internal_error', retryable: true });
  // Only a sandbox ends what has left its group.
  process.kill(Number(await readFile(pid, 'utf8')), 'SIGKILL');
  await rm(pid);
});

test('a line without end is not kept', async () => {
  const script = `head -c 20000000 /dev/zero | tr '\\0' x >&2; sleep 20`;
  expect(await failureOf({ instead: script })).toEqual(['malformed_media', false]);
});

test('anything under names that nobody reads does no harm', async () => {
  await writeFile(instead, '');
  await writeFile(
    afterwards,
    `cd -P output; rm -f 360p.m3u8; mkfifo 360p.m3u8 x.ts; ln -s '${secret}' master.m3u8; mkdir -- -rf`,
  );
  const { manifest } = await bench.transcode(clip);
  expect(manifest.poster).not.toBeNull();
});

test('a FIFO does not keep the engine from stopping', async () => {
  await writeFile(instead, 'cd -P output; mkfifo 360p-0.ts 360p-1.ts; sleep 60');
  await bench.submit(clip);
  await until(async () => (await processesUsing(bench.workDir)).length > 0);
  const startedAt = Date.now();
  await bench.worker.stop();
  expect(Date.now() - startedAt).toBeLessThan(5000);
  expect(await processesUsing(bench.workDir)).toEqual([]);
});
