/**
 * How long a new picture takes on this machine: `pnpm bench:pictures [--rounds=40]`. Starts a single node, publishes a minute of 1080p, and requests
 * pictures at times all over it, one after the other. Prints the median and the 95th percentile from the request to the last byte, for new pictures
 * and for stored ones, and the load of the machine. Run it on an idle one.
 */

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import {
  createClient,
  type PreviewOptions,
  previewUrl,
  type ThumbnailOptions,
  thumbnailUrl,
} from '@framelane/client';
import { upload } from '@framelane/client/node';
import { line, print } from '@framelane/test-kit/benchmark-table';
import { makeClip } from '@framelane/test-kit/clips';
import { SingleNodeProcess } from '@framelane/test-kit/single-node-process';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '40' } } });
const rounds = Number(values.rounds);
const WORKSPACE_ID = 'ws_01j9z3w8x2f5m7k4q6r8t0v1ye';
const SECONDS = 60;

const directory = await mkdtemp(join(tmpdir(), 'framelane-bench-pictures-'));
const apiKey = `svc_live_${randomBytes(32).toString('hex')}`;
const node = await SingleNodeProcess.start(join(directory, 'data'), {
  BOOTSTRAP_WORKSPACE_ID: WORKSPACE_ID,
  BOOTSTRAP_API_KEY: apiKey,
});
try {
  const client = createClient({ baseUrl: node.baseUrl, apiKey, workspaceId: WORKSPACE_ID });
  const clip = await makeClip(join(directory, 'minute.mp4'), {
    video: `testsrc2=s=1920x1080:r=25:d=${SECONDS}`,
    audio: `sine=d=${SECONDS}`,
    options: ['-c:v', 'libx264', '-preset', 'veryfast', '-g', '100', '-c:a', 'aac'],
  });
  const ticket = await client.uploadTickets.create({ filename: 'minute.mp4' });
  await upload(clip, ticket);
  const video = await client.videos.waitUntilReady(ticket.videoId);
  const still = (options: ThumbnailOptions) => (second: number) =>
    thumbnailUrl(video, { ...options, time: second });
  const moving = (options: PreviewOptions) => (second: number) =>
    previewUrl(video, { ...options, start: second });
  print(`Load of the machine: ${loadavg()[0]?.toFixed(1)}`);
  print(line(['milliseconds', 'median', 'p95', 'stored: median', 'p95']));
  await measure('thumbnail.jpg', still({}));
  await measure('thumbnail.webp', still({ format: 'webp' }));
  await measure('thumbnail.jpg, width 1280', still({ width: 1280 }));
  await measure('thumbnail.jpg, width 1920', still({ width: 1920 }));
  await measure('preview.webp', moving({}));
  await measure('preview.gif', moving({ format: 'gif' }));
} finally {
  await node.stop();
  await rm(directory, { recursive: true });
}

async function measure(name: string, urlAt: (second: number) => string): Promise<void> {
  // In an order without neighbours, so that the cache of segments does not help.
  const seconds = Array.from({ length: rounds }, (_, at) => ((at * 7.3) % (SECONDS - 4)) + 0.001);
  const fresh: number[] = [];
  const stored: number[] = [];
  for (const second of seconds) fresh.push(await fetchOnce(urlAt(second)));
  for (const second of seconds) stored.push(await fetchOnce(urlAt(second)));
  const quantiles = [fresh, stored].flatMap((times) => [quantile(times, 0.5), quantile(times, 0.95)]);
  print(line([name, ...quantiles.map((each) => each.toFixed(0))]));
}

/** Milliseconds until the last byte. */
async function fetchOnce(url: string): Promise<number> {
  const begin = performance.now();
  const response = await fetch(url);
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
  return performance.now() - begin;
}

function quantile(times: readonly number[], fraction: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(fraction * (times.length - 1))] ?? Number.NaN;
}
