/**
 * The cost of a download: `pnpm bench:downloads [--minutes=60] [--rounds=3] [--latency=0]`. Puts stored renditions of 1080p and of its audio into
 * one MP4 file, as an engine does for each request: it fetches and decrypts the segments, ffmpeg copies them, and the file is stored. The objects
 * are files; each read waits for `latency` milliseconds first, as in an object store of another machine. Prints medians of the time, of the CPU
 * time of the engine and ffmpeg together, of its ratio to the duration of the video, and of their memory.
 */

import { createCipheriv } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { StoredTrack } from '@framelane/contracts/internal-api';
import type { DownloadWork } from '@framelane/contracts/outputs/download';
import { line, median, print } from '@framelane/test-kit/benchmark-table';
import { makeClip } from '@framelane/test-kit/clips';
import { runProgram } from '@framelane/test-kit/run-program';
import { initializationVector } from '../../src/outputs/segment-encryption.ts';
import { TaskBench } from '../support/task-bench.ts';
import { type Cost, measure } from './support/measure.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '3' },
    latency: { type: 'string', default: '0' },
  },
});
const minutes = Number(values.minutes);
const latencyMs = Number(values.latency);
const PREFIX = 'hls/ws_1/vid_1/a1/t0.1/';

// Without the sandbox, which hides the CPU times of its processes.
const bench = await TaskBench.start({ sandbox: 'none' });
try {
  const minute = await makeClip(join(bench.directory, 'minute.mp4'), {
    video: 'testsrc2=s=1920x1080:r=25:d=60,noise=alls=12:allf=t',
    audio: 'anoisesrc=d=60:c=pink',
    options: [
      '-b:v',
      '4500k',
      '-maxrate',
      '5000k',
      '-bufsize',
      '10000k',
      '-g',
      '150',
      '-c:a',
      'aac',
      '-b:a',
      '128k',
    ],
  });
  const tracks = [await store(minute, '1080p', '0:v'), await store(minute, 'audio', '0:a')];
  const bytes = tracks.flatMap(({ segmentBytes }) => segmentBytes).reduce((a, b) => a + b, 0);
  const { objects } = bench;
  const read = objects.get.bind(objects);
  objects.get = async (...args) => {
    if (latencyMs > 0) await delay(latencyMs);
    return read(...args);
  };
  const costs: Cost[] = [];
  const work: DownloadWork = {
    kind: 'download',
    name: '1080p',
    renditions: ['1080p', 'audio'],
    title: 'An hour',
    chapters: [],
  };
  for (let round = 0; round < Number(values.rounds); round += 1)
    costs.push(
      await measure(() =>
        bench.derive({ videoId: 'vid_1', sourceBytes: 0 }, { work, tracks, duration: minutes * 60 }),
      ),
    );
  const cpu = median(costs.map(({ cpuSeconds }) => cpuSeconds));
  print(`${minutes} minutes of 1080p, ${(bytes / 1e9).toFixed(2)} GB`);
  print(line([`${latencyMs} ms a read`, 'seconds', 'CPU', 'CPU to video', 'memory']));
  print(
    line([
      'a download',
      median(costs.map(({ wallSeconds }) => wallSeconds)).toFixed(1),
      cpu.toFixed(1),
      (cpu / (minutes * 60)).toFixed(4),
      `${Math.round(median(costs.map(({ peakRssBytes }) => peakRssBytes)) / 1e6)} MB`,
    ]),
  );
} finally {
  await bench.stop();
}

/** Stores a rendition of a file that repeats itself. */
async function store(path: string, name: '1080p' | 'audio', map: string): Promise<StoredTrack> {
  await runProgram('ffmpeg', [
    ...['-v', 'error', '-stream_loop', String(minutes - 1), '-i', path, '-map', map, '-c', 'copy'],
    ...['-output_ts_offset', '10', '-f', 'hls', '-hls_time', '6', '-hls_list_size', '0'],
    ...[
      '-hls_segment_filename',
      join(bench.directory, `${name}-%d.ts`),
      join(bench.directory, `${name}.m3u8`),
    ],
  ]);
  const files = (await readdir(bench.directory)).filter((file) => file.startsWith(`${name}-`));
  const segmentBytes: number[] = [];
  for (let sequence = 0; sequence < files.length; sequence += 1) {
    const cipher = createCipheriv('aes-128-cbc', bench.contentKey, initializationVector(sequence));
    const segment = await readFile(join(bench.directory, `${name}-${sequence}.ts`));
    const body = Buffer.concat([cipher.update(segment), cipher.final()]);
    await bench.objects.put(`${PREFIX}${name}/${sequence}.ts`, body, 'video/mp2t');
    segmentBytes.push(body.length);
  }
  const places = [{ firstSegment: 0, prefix: PREFIX }];
  return { name, language: null, label: null, firstSegment: 0, segmentBytes, places };
}
