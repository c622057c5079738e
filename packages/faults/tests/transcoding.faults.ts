import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { VideoFailedError } from '@framelane/client';
import { makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { mutated } from '@framelane/test-kit/mutations';
import { Random, testSeed } from '@framelane/test-kit/random';
import { requires } from '@framelane/test-kit/requires';
import { mountSmallDisk, obstacleToMounting, unmountSmallDisk } from '@framelane/test-kit/small-disk';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { outcomesOf } from '../src/attempts.ts';
import { type Clips, makeClips } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { logged } from '../src/logged.ts';
import { beginPausedTranscode } from '../src/paused-transcode.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

const LOOPS = Number(process.env.LOOPS ?? 1);
const SEED = testSeed();
/** Also runs tests that take minutes. */
const LONG = process.env.LONG === 'yes';

const MUTATIONS = LOOPS * 10;

jest.setTimeout(LOOPS * 300_000);

const run = promisify(execFile);

/** A disk too small for any job, and one with room beyond the engine's reserve. */
const SMALL_DISK = '16m';
const ROOMY_DISK = '1200m';
const withMounts = requires('mount', await obstacleToMounting());

let directory: string;
let cluster: Cluster;
let clips: Clips;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-faults-transcoding-'));
  // When the tests run as root, ffmpeg runs as another user.
  await chmod(directory, 0o755);
  // Without the sandbox, only the arguments of ffmpeg protect the engine, and tests can replace ffmpeg.
  const env = { ENGINE_SANDBOX: 'none', PATH: `${directory}${delimiter}${process.env.PATH}` };
  await installHangingFfmpeg();
  clips = await makeClips();
  cluster = await Cluster.start({ env });
  process.stdout.write(`PROPERTY_SEED=${SEED} LOOPS=${LOOPS}\n`);
});
afterEach(async () => {
  await letFfmpegRun();
  expect(await violationsAtRest(cluster)).toEqual([]);
});
afterAll(async () => {
  await cluster?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** An ffmpeg that hangs and ignores signals while a file `hang` is beside it. */
async function installHangingFfmpeg(): Promise<void> {
  const { stdout: ffmpegPath } = await run('sh', ['-c', 'command -v ffmpeg']);
  const script = [
    '#!/bin/sh',
    `if [ ! -e '${directory}/hang' ]; then exec ${ffmpegPath.trim()} "$@"; fi`,
    "trap '' TERM INT HUP",
    `echo $$ >> '${directory}/hanging'`,
    // It inherits the ignored signals.
    'exec tail -f /dev/null',
  ];
  await writeFile(join(directory, 'ffmpeg'), `${script.join('\n')}\n`);
  await chmod(join(directory, 'ffmpeg'), 0o755);
}

async function letFfmpegHang(): Promise<void> {
  await writeFile(join(directory, 'hanging'), '');
  await chmod(join(directory, 'hanging'), 0o666);
  await writeFile(join(directory, 'hang'), '');
}

async function letFfmpegRun(): Promise<void> {
  await rm(join(directory, 'hang'), { force: true });
}

/** Resolves once this many processes hang. */
async function hanging(count: number): Promise<void> {
  await until(async () => {
    const pids = await readFile(join(directory, 'hanging'), 'utf8');
    return pids.split('\n').filter(Boolean).length >= count;
  });
}

async function sendBytes(name: string, bytes: Buffer | string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, bytes);
  return cluster.api.send(path);
}

/** The final state of a video: `ready`, or its failure code. */
async function endOf(videoId: string): Promise<string> {
  try {
    await cluster.api.client.videos.waitUntilReady(videoId);
    return 'ready';
  } catch (error) {
    if (error instanceof VideoFailedError) return error.code;
    throw error;
  }
}

describe('files', () => {
  test('with misleading content fail with the reason, and a valid video is transcoded', async () => {
    const made = (name: string) => join(directory, name);
    const pattern = 'testsrc2=s=64x64:r=25:d=2';
    const [whole, slow, audioOnly, exotic] = await Promise.all([
      makeClip(made('whole.mp4'), { video: pattern }),
      makeClip(made('slow.mp4'), {
        video: 'testsrc2=s=64x64:r=1:d=2,setpts=N*3600/TB',
        options: ['-vsync', 'vfr', '-video_track_timescale', '1'],
      }),
      makeClip(made('audio.mp4'), { audio: 'sine=d=2', options: ['-c:a', 'aac'] }),
      makeClip(made('exotic.avi'), { video: pattern, options: ['-c:v', 'cinepak'] }),
    ]);
    await ffmpeg('-f', 'lavfi', '-i', pattern, '-frames:v', '1', made('image.png'));
    // A file of another workspace, such as one being transcoded.
    const foreign = await makeClip(join(cluster.workDir, 'foreign.ts'), { video: pattern });
    const playlist = ['#EXTM3U', '#EXT-X-TARGETDURATION:6', '#EXTINF:6,', foreign, '#EXT-X-ENDLIST', ''];
    const half = (await readFile(whole)).subarray(0, 8_000);

    const ends = await Promise.all(
      [
        sendBytes('playlist.mp4', playlist.join('\n')),
        sendBytes('list.mp4', `ffconcat version 1.0\nfile '${foreign}'\n`),
        sendBytes('random.mp4', randomOf(100_000)),
        sendBytes('half.mp4', half),
        cluster.api.send(made('image.png')),
        cluster.api.send(slow),
        cluster.api.send(audioOnly),
        cluster.api.send(exotic),
        cluster.api.send(clips.short),
      ].map(async (sent) => endOf(await sent)),
    );
    expect(ends).toEqual([
      'not_a_video',
      'not_a_video',
      'not_a_video',
      'malformed_media',
      'not_a_video',
      // Two pictures, each shown for an hour.
      'ready',
      'no_video_track',
      'unsupported_codec',
      'ready',
    ]);
    await rm(foreign);
  });

  test('that are damaged become ready or fail', async () => {
    const random = new Random(SEED);
    const video = 'testsrc2=s=128x96:r=25:d=1';
    const audio = 'sine=d=1';
    const originals = await Promise.all(
      ['mp4', 'mkv', 'ts', 'avi'].map(async (extension) => {
        const path = join(directory, `original.${extension}`);
        return readFile(await makeClip(path, { video, audio, options: ['-shortest'] }));
      }),
    );
    const damaged = Array.from({ length: MUTATIONS }, () => mutated(random.pick(originals), random));
    const ends = await Promise.all(
      damaged.map(async (bytes, index) => endOf(await sendBytes(`damaged-${index}`, bytes))),
    );
    const ready = ends.filter((end) => end === 'ready').length;
    process.stdout.write(`Of ${MUTATIONS} damaged files ${ready} became ready. PROPERTY_SEED=${SEED}\n`);
    // Only the file may be the reason of a failure.
    const engineFaults = ['internal_error', 'storage_failed', 'transcode_timeout', 'upload_expired'];
    expect(ends.filter((end) => engineFaults.includes(end))).toEqual([]);
  });

  function randomOf(bytes: number): Buffer {
    const random = new Random(SEED);
    return Buffer.from(Array.from({ length: bytes }, () => random.below(256)));
  }
});

describe('a full disk', () => {
  withMounts.test('keeps its engine from claiming jobs that another engine can do', async () => {
    await withDisk(SMALL_DISK, async (full, healthy) => {
      await full.start();
      const videoIds = await Promise.all([
        cluster.api.send(clips.short),
        cluster.api.send(clips.short),
        cluster.api.send(clips.short),
      ]);
      await until(() => logged([full], 'commands.paused').length > 0);
      await healthy.start();
      for (const id of videoIds) expect(await endOf(id)).toBe('ready');
      const outcomes = await Promise.all(videoIds.map((id) => outcomesOf(cluster, id)));
      expect(outcomes).toEqual(videoIds.map(() => ['completed']));
    });
  });

  withMounts.test('during a transcode ends the attempt; another engine does the job', async () => {
    await withDisk(ROOMY_DISK, async (full, healthy, disk) => {
      await full.start();
      const { videoId } = await beginPausedTranscode(cluster, clips.slow);
      await fill(disk);
      await full.signalPrograms('SIGCONT');
      await until(async () => {
        // Uploaded segments are removed, which makes room again.
        await fill(disk);
        const [outcome] = await outcomesOf(cluster, videoId);
        return outcome;
      });
      await healthy.start();
      expect(await endOf(videoId)).toBe('ready');
      expect(await outcomesOf(cluster, videoId)).toEqual(['failed', 'completed']);
      expect(JSON.stringify(logged([full], 'task.failed').at(-1))).toContain('ran out of disk space');
    });
  });

  type Engine = Cluster['engines'][number];

  /** Restarts the engines with a disk of this size for the first one, and undoes that afterwards. */
  async function withDisk(
    size: string,
    work: (full: Engine, healthy: Engine, disk: string) => Promise<void>,
  ): Promise<void> {
    const [full, healthy] = cluster.engines as [Engine, Engine];
    await Promise.all([full.end('SIGTERM'), healthy.end('SIGTERM')]);
    const disk = join(cluster.workDir, '1');
    await mountSmallDisk(disk, size);
    try {
      await work(full, healthy, disk);
    } finally {
      await full.end('SIGTERM');
      await unmountSmallDisk(disk);
      await full.start();
      // A test that fails may not have started the healthy engine.
      if (healthy.pid === undefined) await healthy.start();
    }
  }

  /** Shrinks the disk to its content. Does nothing if it grows meanwhile. */
  async function fill(disk: string): Promise<void> {
    const { blocks, bfree, bsize } = await statfs(disk);
    // Size 0 means no limit.
    const size = Math.max((blocks - bfree) * bsize, 65_536);
    await run('mount', ['-o', `remount,size=${size}`, disk]).catch(() => {});
  }
});

describe('an ffmpeg that hangs and ignores signals', () => {
  test('ends when its video is deleted', async () => {
    await letFfmpegHang();
    const videoId = await cluster.api.send(clips.short);
    await hanging(1);
    await cluster.api.delete(videoId);
    expect(await violationsAtRest(cluster)).toEqual([]);
  });

  test('ends when its engine stops or is killed, and another engine does the job', async () => {
    await letFfmpegHang();
    const videoIds = await Promise.all([cluster.api.send(clips.short), cluster.api.send(clips.short)]);
    await hanging(2);
    const [stopped, killed] = cluster.engines as [Cluster['engines'][0], Cluster['engines'][0]];
    const codes = await Promise.all([stopped.end('SIGTERM'), killed.end('SIGKILL')]);
    expect(codes).toEqual([0, null]);
    await letFfmpegRun();
    await Promise.all([stopped.start(), killed.start()]);
    for (const id of videoIds) expect(await endOf(id)).toBe('ready');
  });

  (LONG ? test : test.skip)('is killed after the time limit', async () => {
    await letFfmpegHang();
    const videoId = await cluster.api.send(clips.short);
    await hanging(1);
    await letFfmpegRun();
    expect(await endOf(videoId)).toBe('ready');
  });
});
