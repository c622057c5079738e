import { execFile, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs, promisify } from 'node:util';
import { createClient, type FramelaneClient } from '@framelane/client';
import { upload } from '@framelane/client/node';
import { line, print } from '@framelane/test-kit/benchmark-table';
import { SingleNodeProcess } from '@framelane/test-kit/single-node-process';
import { makeMp4, pad } from '../../../src/clips.ts';
import type { Outcome, Shot, Stream, Task } from './open-loop.ts';

/**
 * Prints what users meet while a single node on this machine is busy and while it is offered more than it can do: times from the moment at which
 * each request was due, refusals, and errors. The load generator uses the same processors.
 */

const { values: options } = parseArgs({
  options: {
    viewers: { type: 'string', default: '5000' },
    uploads: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '30' },
    only: { type: 'string', default: '' },
  },
});
const SECONDS = Number(options.seconds);
const ADMIN = join(import.meta.dirname, '../../../../single-node/src/cli/admin.ts');

/** The knee is the highest rate at which nearly all requests get a response below this time, in steps of this factor. */
const KNEE_P99_MS = 250;
const FIRST_RATE = 40;
const STEP = 1.25;
const STEP_SECONDS = 5;
/** What the benchmark offers in excess of the knee. */
const OVERLOAD = 3;
/** Requests a second of a workspace that does nothing unusual. */
const QUIET_RATE = 20;
const SEGMENT_SECONDS = 6;
const VIDEO_SECONDS = 60;
const UPLOAD_MIB = 8;

type Workspace = { id: string; apiKey: string; client: FramelaneClient };

const directory = await mkdtemp(join(tmpdir(), 'framelane-bench-load-'));
const node = await SingleNodeProcess.start(join(directory, 'data'), {
  BOOTSTRAP_WORKSPACE_ID: 'ws_01j9z3w8x2f5m7k4q6r8t0v1ye',
  BOOTSTRAP_API_KEY: `svc_live_${randomBytes(32).toString('hex')}`,
});
const generator = fork(join(import.meta.dirname, 'open-loop.ts'), { serialization: 'advanced' });

async function createWorkspace(name: string): Promise<Workspace> {
  const { id } = await admin('workspace', 'create', '--name', name);
  const { secret } = await admin('key', 'create', '--name', name, '--workspace', id);
  return {
    id,
    apiKey: secret,
    client: createClient({ baseUrl: node.baseUrl, apiKey: secret, workspaceId: id }),
  };
}

async function admin(...args: string[]) {
  const env = { ...process.env, DATA_DIR: node.dataDir, PUBLIC_URL: new URL(node.baseUrl).origin };
  const { stdout } = await promisify(execFile)(process.execPath, [ADMIN, ...args, '--json'], { env });
  return JSON.parse(stdout);
}

async function offer(seconds: number, ...streams: Stream[]): Promise<Outcome[]> {
  const task: Task = { streams, seconds };
  const response = once(generator, 'message');
  generator.send(task);
  const [outcomes] = await response;
  return streams.map(({ name }) => outcomes[name]);
}

/** Seven requests for a video, two for the list and a ticket, as an application sends them. */
function applicationOf({ id, apiKey }: Workspace, videoId: string): Shot[] {
  const headers = { authorization: `Bearer ${apiKey}`, 'x-svc-workspace': id };
  const get = (path: string): Shot => ({ method: 'GET', url: `${node.baseUrl}${path}`, headers });
  const ticket: Shot = {
    method: 'POST',
    url: `${node.baseUrl}/videos/upload-ticket`,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ filename: 'holiday.mp4' }),
  };
  const video = get(`/videos/${videoId}`);
  return [video, video, get('/videos'), video, video, ticket, video, video, get('/videos'), video];
}

function stream(name: string, perSecond: number, shots: Shot[]): Stream {
  return { name, perSecond, shots };
}

const HEAD = line(['', 'offered', '2xx', '429', '503', 'other', 'p50 ms', 'p99 ms']);

function row(name: string, { offered, statuses, errors, withoutRetryAfter, p50, p99 }: Outcome): string {
  const [fine = 0, limited = 0, busy = 0] = ['200', '429', '503'].map((status) => statuses[status]);
  const created = statuses['201'] ?? 0;
  const other = offered - fine - created - limited - busy;
  const figures = [offered, fine + created, limited, busy, other].map(String);
  const notes = [
    ...(other > 0 ? [JSON.stringify({ ...statuses, ...errors })] : []),
    ...(withoutRetryAfter > 0 ? [`${withoutRetryAfter} without Retry-After`] : []),
  ];
  return [line([name, ...figures, p50.toFixed(1), p99.toFixed(1)]), ...notes].join('  ');
}

/** The highest rate of requests that the node keeps up with. */
async function findKnee(shots: Shot[]): Promise<number> {
  let knee = 0;
  for (let rate = FIRST_RATE; ; rate = Math.round(rate * STEP)) {
    const [outcome] = (await offer(STEP_SECONDS, stream('application', rate, shots))) as [Outcome];
    print(row(`${rate} a second`, outcome));
    const answered = (outcome.statuses['200'] ?? 0) + (outcome.statuses['201'] ?? 0);
    if (outcome.p99 > KNEE_P99_MS || answered < outcome.offered) return knee;
    knee = rate;
  }
}

async function measureApi(busy: Workspace, quiet: Workspace): Promise<void> {
  const [busyVideo, quietVideo] = await Promise.all([busy, quiet].map((each) => uploadClip(each, 1)));
  const application = applicationOf(busy, busyVideo as string);
  const neighbour = applicationOf(quiet, quietVideo as string);
  print(`\nAPI: the knee\n${HEAD}`);
  await offer(STEP_SECONDS, stream('warm-up', FIRST_RATE, application));
  const knee = await findKnee(application);
  if (knee === 0)
    throw new Error(`The machine does too much else: it cannot keep up with ${FIRST_RATE} requests a second`);
  print(`\nAPI: one workspace offers more, another sends ${QUIET_RATE} requests a second\n${HEAD}`);
  for (const part of [0, 0.7, OVERLOAD, 0.7]) {
    const streams = [
      ...(part > 0
        ? [stream(`busy workspace, ${Math.round(part * 100)} % of the knee`, knee * part, application)]
        : []),
      stream('quiet workspace', QUIET_RATE, neighbour),
    ];
    const outcomes = await offer(SECONDS, ...streams);
    for (const [at, { name }] of streams.entries()) print(row(name, outcomes[at] as Outcome));
  }
}

/** Each viewer requests a segment of video and one of audio every six seconds; the viewers are spread evenly over these. */
async function measureViewers(workspace: Workspace): Promise<void> {
  const videoId = await uploadClip(workspace, VIDEO_SECONDS);
  const { hls = '' } = await workspace.client.videos.get(videoId);
  const segments = await segmentsOf(hls);
  const perSecond = Number(options.viewers) / SEGMENT_SECONDS;
  print(`\n${options.viewers} viewers\n${HEAD}`);
  const streams = segments.map(({ name, shots }) => stream(name, perSecond, shots));
  const quiet = stream('API', QUIET_RATE, applicationOf(workspace, videoId));
  const outcomes = await offer(SECONDS, ...streams, quiet);
  for (const [at, { name }] of [...streams, quiet].entries()) print(row(name, outcomes[at] as Outcome));
}

async function segmentsOf(hls: string): Promise<{ name: string; shots: Shot[] }[]> {
  const text = async (url: string) => (await fetch(url)).text();
  const master = await text(hls);
  const playlists = {
    'segments of video': /#EXT-X-STREAM-INF:.*\n(.+)/.exec(master)?.[1],
    'segments of audio': /TYPE=AUDIO.*URI="([^"]+)"/.exec(master)?.[1],
  };
  return Promise.all(
    Object.entries(playlists).map(async ([name, uri = '']) => {
      const playlist = new URL(uri, hls).href;
      const uris = (await text(playlist)).split('\n').filter((each) => each !== '' && !each.startsWith('#'));
      return {
        name,
        shots: uris.map((each): Shot => ({ method: 'GET', url: new URL(each, playlist).href })),
      };
    }),
  );
}

/** All uploads begin at the same moment, half of them in each workspace. */
async function measureUploads(workspaces: Workspace[]): Promise<void> {
  const file = await pad(await makeClip(1), UPLOAD_MIB * 1024 ** 2);
  print(`\nUploads of ${UPLOAD_MIB} MiB at the same time`);
  print(line(['', 'uploads', 'failed', 'p50 s', 'p99 s', 'MiB/s']));
  for (const count of [Number(options.uploads), 2 * Number(options.uploads)]) {
    const tickets = await Promise.all(
      Array.from({ length: count }, (_, at) =>
        (workspaces[at % workspaces.length] as Workspace).client.uploadTickets.create({
          filename: 'upload.mp4',
        }),
      ),
    );
    const beginning = performance.now();
    const failures: string[] = [];
    const seconds: number[] = [];
    await Promise.all(
      tickets.map(async (ticket) => {
        try {
          await upload(file, ticket, { resumableAbove: Number.POSITIVE_INFINITY });
          seconds.push((performance.now() - beginning) / 1000);
        } catch (error) {
          failures.push(String(error));
        }
      }),
    );
    const sorted = seconds.toSorted((a, b) => a - b);
    const at = (part: number) => sorted[Math.floor(part * sorted.length)]?.toFixed(1) ?? '–';
    const rate = (seconds.length * UPLOAD_MIB) / (sorted.at(-1) ?? Number.NaN);
    print(line(['', String(count), String(failures.length), at(0.5), at(0.99), rate.toFixed(0)]));
    for (const failure of new Set(failures)) print(`  ${failure}`);
  }
}

async function uploadClip({ client }: Workspace, seconds: number): Promise<string> {
  const file = await makeClip(seconds);
  const ticket = await client.uploadTickets.create({ filename: 'clip.mp4', playbackPolicy: 'public' });
  await upload(file, ticket);
  await client.videos.waitUntilReady(ticket.videoId);
  return ticket.videoId;
}

function makeClip(seconds: number): Promise<string> {
  const audio = { sampleRate: 48_000, channels: 2 };
  return makeMp4(directory, { name: `clip-${seconds}`, width: 320, height: 180, rate: '30', seconds, audio });
}

const PARTS: Record<string, (workspaces: [Workspace, Workspace]) => Promise<void>> = {
  api: ([busy, quiet]) => measureApi(busy, quiet),
  viewers: ([workspace]) => measureViewers(workspace),
  uploads: measureUploads,
};

try {
  const workspaces: [Workspace, Workspace] = [await createWorkspace('Busy'), await createWorkspace('Quiet')];
  for (const [name, measure] of Object.entries(PARTS))
    if (name.includes(options.only)) await measure(workspaces);
} finally {
  generator.disconnect();
  await writeFile(process.env.NODE_LOG ?? '/dev/null', node.log);
  await node.stop();
  await rm(directory, { recursive: true });
}
