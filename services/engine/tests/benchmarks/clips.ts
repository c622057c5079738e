/**
 * The time for a clip: `pnpm bench:clips [--minutes=120] [--clip=10] [--rounds=3]`. Makes a clip of some minutes from the middle of a video of 1080p
 * in four renditions with audio, as an engine does, with both edges in the middle of segments. Only the segments that a clip reads are stored, in files.
 * Prints medians of the time, and of the CPU time of the engine and ffmpeg together.
 */
import { createCipheriv } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { planClip, windowOf } from '@framelane/contracts/clip-plan';
import type { RenditionName } from '@framelane/contracts/renditions';
import { line, median, print } from '@framelane/test-kit/benchmark-table';
import { makeClip } from '@framelane/test-kit/clips';
import { runProgram } from '@framelane/test-kit/run-program';
import { initializationVector } from '../../src/outputs/segment-encryption.ts';
import { TaskBench } from '../support/task-bench.ts';
import { type Cost, measure } from './support/measure.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '120' },
    clip: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
  },
});
const SEGMENT_SECONDS = 6;
const RATE = 25;
/** Seconds of what repeats itself. */
const PART_SECONDS = 12;
const seconds = Number(values.minutes) * 60;
const begin = SEGMENT_SECONDS * Math.floor(seconds / 2 / SEGMENT_SECONDS) + 3;
const end = begin + Number(values.clip) * 60;
const PREFIX = 'hls/ws_1/vid_1/a1/t0.1/';
const RENDITIONS = [
  ['360p', '640x360', '700k'],
  ['480p', '854x480', '1200k'],
  ['720p', '1280x720', '2800k'],
  ['1080p', '1920x1080', '5000k'],
] as const;

// Without the sandbox, which hides the CPU times of its processes.
const bench = await TaskBench.start({ sandbox: 'none' });
try {
  const sample = await makeClip(join(bench.directory, 'sample.mp4'), {
    video: `testsrc2=s=1920x1080:r=${RATE}:d=21`,
    audio: 'sine=440:r=48000:d=21',
    options: ['-c:a', 'aac'],
  });
  const { plan } = await bench.plan(await bench.store(sample), 10, false);
  const starts = Array.from({ length: seconds / SEGMENT_SECONDS }, (_, at) => at * SEGMENT_SECONDS * RATE);
  const encode = {
    ...plan.encode,
    startsShort: false,
    frames: seconds * RATE,
    duration: seconds,
    audio: plan.encode.audio.map((audio) => ({ ...audio, end: seconds })),
  };
  const parentPlan = { ...plan, encode, segmentStarts: starts, iFrames: false };
  const names: RenditionName[] = [...RENDITIONS.map(([name]) => name), 'audio'];
  for (const [name, size, bitRate] of RENDITIONS) {
    const part = await makeClip(join(bench.directory, `${name}.mp4`), {
      video: `testsrc2=s=${size}:r=${RATE}:d=${PART_SECONDS},noise=alls=12:allf=t`,
      options: ['-g', '50', '-flags', '+cgop', '-b:v', bitRate, '-maxrate', bitRate, '-bufsize', bitRate],
    });
    await store(part, name, '0:v');
  }
  const tone = await makeClip(join(bench.directory, 'tone.mp4'), {
    audio: `anoisesrc=d=${PART_SECONDS}:c=pink:r=48000`,
    options: ['-c:a', 'aac', '-b:a', '128k'],
  });
  await store(tone, 'audio', '0:a');
  const durations = starts.map(() => SEGMENT_SECONDS);
  const stored = names.map((name) => ({ name, segmentDurations: durations }));
  const { plan: ofClip, work } = planClip(parentPlan, stored, windowOf(parentPlan, { start: begin, end }));
  const parent = {
    contentKey: bench.contentKey,
    startTimestamp: 1_026_000,
    posterKey: null,
    tracks: names.map((name) => ({
      name,
      language: null,
      label: null,
      codecs: name === 'audio' ? 'mp4a.40.2' : 'avc1.640028',
      firstSegment: 0,
      segmentBytes: [1],
      places: [{ firstSegment: 0, prefix: PREFIX }],
    })),
  };
  const costs: Cost[] = [];
  for (let round = 0; round < Number(values.rounds); round += 1)
    costs.push(await measure(() => bench.makeClip({ plan: ofClip, work, parent })));
  print(`${values.clip} minutes of ${values.minutes} minutes of 1080p in four renditions, with audio`);
  print(line(['', 'seconds', 'CPU']));
  print(
    line([
      'a clip',
      median(costs.map(({ wallSeconds }) => wallSeconds)).toFixed(1),
      median(costs.map(({ cpuSeconds }) => cpuSeconds)).toFixed(1),
    ]),
  );
} finally {
  await bench.stop();
}

/** Stores the segments of a rendition that a clip reads, of a file that repeats itself. */
async function store(path: string, name: string, map: string): Promise<void> {
  const from = begin - 3 - 2 * PART_SECONDS;
  const loops = Math.ceil((end - from) / PART_SECONDS) + 2;
  const first = from / SEGMENT_SECONDS;
  await runProgram('ffmpeg', [
    ...['-v', 'error', '-stream_loop', String(loops), '-i', path, '-map', map, '-c', 'copy'],
    ...['-output_ts_offset', String(10 + from), '-f', 'hls', '-hls_time', String(SEGMENT_SECONDS)],
    ...['-hls_list_size', '0', '-start_number', String(first)],
    ...[
      '-hls_segment_filename',
      join(bench.directory, `${name}-%d.ts`),
      join(bench.directory, `${name}.m3u8`),
    ],
  ]);
  const files = (await readdir(bench.directory)).filter(
    (file) => file.startsWith(`${name}-`) && file.endsWith('.ts'),
  );
  for (const file of files) {
    const sequence = Number(file.slice(name.length + 1, -'.ts'.length));
    const cipher = createCipheriv('aes-128-cbc', bench.contentKey, initializationVector(sequence));
    const body = Buffer.concat([cipher.update(await readFile(join(bench.directory, file))), cipher.final()]);
    await bench.objects.put(`${PREFIX}${name}/${sequence}.ts`, body, 'video/mp2t');
  }
}
