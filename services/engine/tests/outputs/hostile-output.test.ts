/** How the engine handles the output of a compromised ffmpeg. The tests use no sandbox, so that ffmpeg is not restricted. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { type Clip, makeClip } from '@framelane/test-kit/clips';
import { processesUsing } from '@framelane/test-kit/processes';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { ToolOutput } from '../../src/sandbox/tool-output.ts';
import { box } from '../support/mp4-boxes.ts';
import { WorkerBench } from '../support/worker-bench.ts';

const run = promisify(execFile);
const { PATH } = process.env;

let bench: WorkerBench;
let clip: string;
let secret: string;
/** A complete segment of the duration that the job expects. */
let segment: string;
/** Scripts that ffmpeg runs in place of an encode, and after one. */
let instead: string;
let afterwards: string;

beforeAll(async () => {
  const { stdout } = await run('sh', ['-c', 'command -v ffmpeg']);
  bench = await WorkerBench.start({
    sandbox: 'none',
    // The engine finds this program before the real ffmpeg.
    prepare: async (directory) => {
      // If the engine is root, ffmpeg runs as another user; it gets the same access.
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
  bench.packaging = 'ts';
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
 * Runs a job whose ffmpeg runs a script, checks that it leaves no object, file or process, and returns the failure. Scripts use
 * `cd -P`: a plain `cd` starts at the root, and the user of ffmpeg may not have access to all parents.
 */
async function failureOf(script: { instead?: string; afterwards?: string }) {
  await writeFile(instead, script.instead ?? '');
  await writeFile(afterwards, script.afterwards ?? ':');
  const videoId = await bench.submit(clip);
  const { code, retryable } = await bench.failure(videoId);
  expect(await bench.stored(videoId)).toEqual([]);
  await until(async () => (await readdir(join(bench.workDir, 'jobs'))).length === 0);
  // A killed process may need a moment to end.
  await until(async () => (await processesUsing(bench.workDir)).length === 0);
  expect(await readFile(secret, 'utf8')).toContain('the secret');
  return [code, retryable];
}

/** The video fails without a retry. */
const HOSTILE = ['transcode_failed', false];
/** The disk may have been full: another try may succeed. */
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
    ['an endless device', () => `mknod ${path} c 1 5 || mkfifo ${path}`],
    ['a file too large', () => `truncate -s 100M ${path}`],
    ['text', () => `cp '${secret}' ${path}`],
  ])('%s fails the video', async (_, command) => {
    expect(await failureOf(replace(command()))).toEqual(HOSTILE);
  });
});

describe('a segment', () => {
  const cut = (bytes: number) => ({ instead: `head -c ${bytes} '${segment}' > output/360p-0.ts` });

  test('with a truncated packet is incomplete', async () => {
    const { size } = await stat(segment);
    expect(await failureOf(cut(size - 100))).toEqual(INCOMPLETE);
  });

  test('that ends too early is incomplete', async () => {
    const { size } = await stat(segment);
    expect(await failureOf(cut(188 * Math.floor((0.8 * size) / 188)))).toEqual(INCOMPLETE);
  });

  test('that is empty means that no frame could be decoded', async () => {
    expect(await failureOf(cut(0))).toEqual(['malformed_media', false]);
  });

  test('with missing packets is incomplete', async () => {
    const script = `(head -c 18800 '${segment}'; head -c 188 /dev/zero; tail -c 18800 '${segment}') > output/360p-0.ts`;
    expect(await failureOf({ instead: script })).toEqual(INCOMPLETE);
  });

  test.each(['360p-99999999999999999999999.ts', '360p-2.ts'])(
    'named %s exceeds the number of segments',
    async (name) => {
      expect(await failureOf({ instead: `cp '${segment}' output/${name}` })).toEqual([
        'malformed_media',
        false,
      ]);
    },
  );
});

describe('CMAF', () => {
  /** Complete parts of the duration that the job expects, and others. */
  const part = (name: string) => join(bench.directory, `part-${name}`);

  beforeAll(async () => {
    bench.packaging = 'cmaf';
    const { section, media } = await fragmented('video', { options: ['-bf', '0'] });
    const huge = Buffer.from(media);
    huge.writeUInt32BE(2 ** 32 - 1, huge.indexOf('mdat') - 4);
    const otherCodec = await fragmented('other', { options: ['-c:v', 'mpeg4'] });
    await Promise.all([
      writeFile(part('init'), section),
      writeFile(part('media'), media),
      writeFile(part('truncated'), media.subarray(0, -100)),
      writeFile(part('zeros'), Buffer.concat([media, Buffer.alloc(4096)])),
      writeFile(part('huge'), huge),
      writeFile(part('boxes'), Buffer.alloc(800_000, box('styp', Buffer.alloc(0)))),
      writeFile(part('other-init'), otherCodec.section),
    ]);
  });
  afterAll(() => {
    bench.packaging = 'ts';
  });

  /** The parts before and after the first fragment begins. */
  async function fragmented(name: string, { options = [] }: Clip) {
    const file = await readFile(
      await makeClip(part(`${name}.mp4`), {
        video: 'testsrc2=s=64x64:r=25:d=1',
        options: [...options, '-movflags', '+frag_keyframe+empty_moov+default_base_moof+skip_trailer'],
      }),
    );
    const at = file.indexOf('moof') - 4;
    return { section: file.subarray(0, at), media: file.subarray(at) };
  }

  const written = () => `cp '${part('init')}' output/360p-init.mp4; cp '${part('media')}' output/360p-0.m4s`;

  test.each([
    ['360p-0.m4s', 'a link', () => `ln -s '${secret}' output/360p-0.m4s`, HOSTILE],
    ['360p-0.m4s', 'a FIFO', () => 'mkfifo output/360p-0.m4s', HOSTILE],
    ['360p-0.m4s', 'a file too large', () => 'truncate -s 100M output/360p-0.m4s', HOSTILE],
    ['360p-0.m4s', 'a transport stream', () => `cp '${segment}' output/360p-0.m4s`, HOSTILE],
    ['360p-0.m4s', 'many boxes', () => `cp '${part('boxes')}' output/360p-0.m4s`, HOSTILE],
    ['360p-0.m4s', 'a truncated segment', () => `cp '${part('truncated')}' output/360p-0.m4s`, INCOMPLETE],
    [
      '360p-0.m4s',
      'a segment with zeros at its end',
      () => `cp '${part('zeros')}' output/360p-0.m4s`,
      INCOMPLETE,
    ],
    [
      '360p-0.m4s',
      'a segment with 4 GiB of media',
      () => `cp '${part('huge')}' output/360p-0.m4s`,
      INCOMPLETE,
    ],
    ['360p-init.mp4', 'nothing', () => ':', HOSTILE],
    ['360p-init.mp4', 'a link', () => `ln -s '${part('init')}' output/360p-init.mp4`, HOSTILE],
    ['360p-init.mp4', 'a FIFO', () => 'mkfifo output/360p-init.mp4', HOSTILE],
    ['360p-init.mp4', 'a file too large', () => 'truncate -s 100M output/360p-init.mp4', HOSTILE],
    ['360p-init.mp4', 'text', () => `cp '${secret}' output/360p-init.mp4`, HOSTILE],
    ['360p-init.mp4', 'another codec', () => `cp '${part('other-init')}' output/360p-init.mp4`, HOSTILE],
    ['360p-init.mp4', 'an empty file', () => ': > output/360p-init.mp4', INCOMPLETE],
  ])('in place of %s, %s fails the video', async (name, _, command, expected) => {
    const script = `${written()}; rm output/${name}; ${command()}`;
    expect(await failureOf({ instead: script })).toEqual(expected);
  });

  test('the parts are complete', async () => {
    await writeFile(instead, written());
    const { manifest } = await bench.transcode(clip);
    expect(manifest.renditions).toMatchObject([{ name: '360p', initialization: expect.any(String) }]);
  });
});

test.each(['poster.jpg', 'storyboard.jpg'])('a truncated %s is incomplete', async (name) => {
  const half = `head -c 500 output/${name} > output/x; mv output/x output/${name}`;
  expect(await failureOf({ afterwards: half })).toEqual(INCOMPLETE);
});

test('a FIFO in place of every segment does not block the engine', async () => {
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

test('a link to another folder in place of the output folder is not read', async () => {
  const script = `mkdir -p other; cp '${segment}' other/360p-0.ts; mv output away; ln -s other output`;
  expect(await failureOf({ instead: script })).toEqual(INCOMPLETE);
});

test('inaccessible folders, and folders nested deeper than a path can be long, are removed', async () => {
  const script = [
    'cd -P output; mkdir closed; touch closed/file; chmod 000 closed',
    // 300 folders of 100 characters.
    `name=$(printf 'x%.0s' $(seq 100)); for i in $(seq 300); do mkdir "$name"; cd -P "$name" 2>/dev/null || break; done`,
  ].join('\n');
  expect(await failureOf({ instead: script })).toEqual(INCOMPLETE);
});

test('a surviving process that holds the pipes open does not block the engine', async () => {
  const pid = join(bench.directory, 'survivor');
  await writeFile(instead, `setsid sh -c 'cd /; echo $$ > ${pid}; exec tail -f /dev/null' & sleep 0.2`);
  const videoId = await bench.submit(clip);
  expect(await bench.failure(videoId)).toMatchObject({ code: 'internal_error', retryable: true });
  // Without a sandbox, a process that left its group survives.
  process.kill(Number(await readFile(pid, 'utf8')), 'SIGKILL');
  await rm(pid);
});

test('an endless line of stderr is not buffered', async () => {
  const script = `head -c 20000000 /dev/zero | tr '\\0' x >&2; sleep 20`;
  expect(await failureOf({ instead: script })).toEqual(['malformed_media', false]);
});

test('files with names that the engine does not read are ignored', async () => {
  await writeFile(instead, '');
  await writeFile(
    afterwards,
    `cd -P output; rm -f 360p.m3u8; mkfifo 360p.m3u8 x.ts; ln -s '${secret}' master.m3u8; mkdir -- -rf`,
  );
  const { manifest } = await bench.transcode(clip);
  expect(manifest.poster).not.toBeNull();
});

test('a FIFO does not delay the stop of the engine', async () => {
  const opened = jest.spyOn(ToolOutput.prototype, 'file');
  // The engine looks for segments when ffmpeg reports progress.
  const progress = String.raw`printf 'frame=1\nprogress=continue\n'`;
  await writeFile(instead, `cd -P output; mkfifo 360p-0.ts 360p-1.ts; ${progress}; sleep 60`);
  await bench.submit(clip);
  await until(() => opened.mock.calls.length > 0);
  opened.mockRestore();
  const startedAt = Date.now();
  await bench.worker.stop();
  expect(Date.now() - startedAt).toBeLessThan(30_000);
  expect(await processesUsing(bench.workDir)).toEqual([]);
});
