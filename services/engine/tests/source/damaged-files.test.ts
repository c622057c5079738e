/**
 * Truncated and damaged files. `DAMAGED_FILES=1000` tests a thousand damaged files, and another `PROPERTY_SEED` damages them
 * differently. A failure names its seed; `DAMAGED_FILES=1 PROPERTY_SEED=<seed>` repeats it. The known seeds are always tested too.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TRANSCODE_FAILURE_CODES } from '@framelane/contracts/failures';
import type { MessageData } from '@framelane/contracts/messages';
import { makeClip } from '@framelane/test-kit/clips';
import { mutated } from '@framelane/test-kit/mutations';
import { processesUsing } from '@framelane/test-kit/processes';
import { Random, testSeed } from '@framelane/test-kit/random';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { hlsViolations } from '../support/hls-rules.ts';
import { WorkerBench } from '../support/worker-bench.ts';

const COUNT = Number(process.env.DAMAGED_FILES ?? 20);
const FIRST_SEED = testSeed(1);
/**
 * Seeds whose files the engine once got wrong: a stream copy without one of its frames, a stream copy that ends within an audio frame, and
 * a size that no memory suffices for. With clips of another ffmpeg than 5.1 they are other files.
 */
const KNOWN_SEEDS = [281, 1655, 1996];
const SEEDS = new Set([...Array.from({ length: COUNT }, (_, at) => FIRST_SEED + at), ...KNOWN_SEEDS]);
const CONCURRENCY = 3;

jest.setTimeout(120_000 + SEEDS.size * 10_000);

type ClipOptions = [name: string, options: string[]];

const VIDEO = 'testsrc2=s=64x64:r=25:d=0.6';
const AUDIO = 'sine=d=0.6';
const CLIPS: ClipOptions[] = [
  ['a.mp4', ['-c:a', 'aac']],
  ['b.mp4', ['-c:a', 'aac', '-movflags', '+frag_keyframe+empty_moov']],
  ['c.mkv', ['-c:a', 'libopus']],
  ['d.webm', ['-c:v', 'libvpx', '-deadline', 'realtime', '-c:a', 'libvorbis']],
  ['e.ts', ['-c:a', 'mp2']],
  ['f.avi', ['-c:v', 'mpeg4', '-c:a', 'libmp3lame']],
  ['g.flv', ['-c:v', 'flv1', '-c:a', 'libmp3lame', '-ar', '44100']],
  ['h.mpg', ['-c:v', 'mpeg2video', '-c:a', 'mp2']],
  ['i.ogv', ['-c:v', 'libtheora', '-c:a', 'flac']],
  ['k.wmv', ['-c:v', 'wmv2', '-c:a', 'wmav2']],
  ['l.mxf', ['-c:v', 'mpeg2video', '-c:a', 'pcm_s16le', '-ar', '48000']],
  ['j.mov', ['-c:v', 'prores', '-pix_fmt', 'yuv422p10le', '-c:a', 'pcm_s16le']],
];
const AV1 = ['-c:v', 'libsvtav1', '-preset', '12', '-svtav1-params', 'lp=1'];
const HEVC = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none'];
/** Apart from the others, whose number determines the files of the known seeds. */
const AV1_AND_HEVC: ClipOptions[] = [
  ['m.mp4', [...AV1, '-c:a', 'aac']],
  ['n.mp4', [...HEVC, '-tag:v', 'hvc1', '-c:a', 'aac']],
  ['o.webm', [...AV1, '-c:a', 'libopus']],
  ['p.ts', [...HEVC, '-c:a', 'aac']],
];
/** Truncation points, relative to the size of the file. */
const PARTS = [0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99];

let bench: WorkerBench;
/** The whole files, by name. */
const originals = new Map<string, Buffer>();
const original = (name: string) => originals.get(name) ?? Buffer.of();
beforeAll(async () => {
  bench = await WorkerBench.start({
    slots: CONCURRENCY,
    limits: {
      probeSeconds: 20,
      scanSeconds: 20,
      encodeSeconds: { fixed: 60, perSecondOfVideo: 1, max: 120 },
      stallSeconds: 20,
    },
  });
  for (const [name, options] of [...CLIPS, ...AV1_AND_HEVC]) {
    const clip = await makeClip(join(bench.directory, name), { video: VIDEO, audio: AUDIO, options });
    originals.set(name, await readFile(clip));
  }
});
afterAll(() => bench.stop());

/** `fine` if the result is a documented refusal, or a video that follows the rules of HLS; else what is wrong. */
async function outcome(name: string, content: Buffer): Promise<string> {
  const path = join(bench.directory, name);
  await writeFile(path, content);
  const videoId = await bench.submit(path);
  const { type, data } = await bench.result(videoId);
  const found =
    type === 'task.completed'
      ? await hlsViolations(bench, videoId, await bench.manifest(videoId))
      : [...failureComplaints(data), ...(await bench.stored(videoId)).map((key) => `left ${key}`)];
  return found.length === 0 ? 'fine' : found.join('; ');
}

/** What is wrong with a failure: it must be documented, caused by the file, and not retryable. */
function failureComplaints({ code, message, retryable }: MessageData<'task.failed'>): string[] {
  const isCausedByFile = !retryable && TRANSCODE_FAILURE_CODES.some((known) => known === code);
  return isCausedByFile ? [] : [`${code}: ${message}`];
}

async function expectAllFine(files: { name: string; content: Buffer }[]): Promise<void> {
  const found: string[] = [];
  const waiting = files.values();
  const checkNext = async () => {
    for (const { name, content } of waiting) {
      const verdict = await outcome(name, content);
      if (verdict !== 'fine') found.push(`${name}: ${verdict}`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, checkNext));
  expect(found).toEqual([]);
  expect(await readdir(join(bench.workDir, 'jobs'))).toEqual([]);
  expect(await processesUsing(bench.workDir)).toEqual([]);
}

test('files may be truncated anywhere', async () => {
  const files = [...CLIPS, ...AV1_AND_HEVC].flatMap(([name], clip) =>
    PARTS.filter((_, at) => at % 4 === clip % 4 || COUNT > 100).map((part) => ({
      name: `${part} of ${name}`,
      content: original(name).subarray(0, Math.ceil(original(name).length * part)),
    })),
  );
  await expectAllFine(files);
});

test.each([
  ['', CLIPS],
  [' of AV1 and HEVC', AV1_AND_HEVC],
])('files%s may be damaged anywhere', async (_, clips) => {
  const files = Array.from(SEEDS, (seed) => {
    const random = new Random(seed);
    const [name] = random.pick(clips);
    return { name: `seed ${seed}, ${name}`, content: mutated(original(name), random) };
  });
  await expectAllFine(files);
});

test('AV1 whose frames cannot be decoded is the fault of the file', async () => {
  const clip = await makeClip(join(bench.directory, 'av1.mp4'), {
    video: 'testsrc2=s=320x180:r=25:d=2',
    options: AV1,
  });
  const content = await readFile(clip);
  const begin = content.indexOf('mdat') + 4;
  const end = begin - 8 + content.readUInt32BE(begin - 8);
  for (let at = begin; at < end; at += 150) content[at] = (content[at] ?? 0) ^ 1;
  const path = join(bench.directory, 'undecodable.mp4');
  await writeFile(path, content);
  expect(await bench.failure(await bench.submit(path))).toMatchObject({
    code: 'malformed_media',
    retryable: false,
  });
});
