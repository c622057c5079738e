import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, statfs } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { processesUsing } from '@framelane/test-kit/processes';
import { requires } from '@framelane/test-kit/requires';
import { SingleNodeProcess } from '@framelane/test-kit/single-node-process';
import { mountSmallDisk, obstacleToMounting, unmountSmallDisk } from '@framelane/test-kit/small-disk';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

const run = promisify(execFile);
const withMounts = requires('mount', await obstacleToMounting());

const MIB = 1024 ** 2;

type Video = { id: string; status: string; progress: number; hls?: string; variants?: string[] };

describe('a single node', () => {
  let dataDir: string;
  let nodes: SingleNodeProcess[];

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'framelane-node-'));
    nodes = [];
  });
  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await rm(dataDir, { recursive: true });
  });

  async function start(env: Record<string, string> = {}): Promise<SingleNodeProcess> {
    const node = await SingleNodeProcess.start(dataDir, env);
    nodes.push(node);
    return node;
  }

  /** Starts a node that must fail to start. Resolves with its output. */
  async function refusal(env: Record<string, string>, options?: { terminal: boolean }): Promise<string> {
    const node = await SingleNodeProcess.spawn(dataDir, env, options);
    nodes.push(node);
    expect(await node.exited).toEqual({ code: 1, signal: null });
    return node.output;
  }

  test('describes itself with --help, and refuses any other argument', async () => {
    const main = join(import.meta.dirname, '../src/main.ts');
    const { stdout } = await run(process.execPath, [main, '--help']);
    expect(stdout).toContain('DATA_DIR');
    await expect(run(process.execPath, [main, '--port=80'])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Unknown option '--port'. Settings are environment variables"),
    });
  });

  test('runs the printed example, stops cleanly, and has the video after a restart', async () => {
    const first = await start();
    const example = first.output.split('\n').filter((line) => line.includes('curl'));
    expect(example).toHaveLength(3);
    const { stdout } = await run('sh', ['-c', example.join('\n')]);
    const video: Video = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(video).toMatchObject({ status: 'ready', variants: ['360p', '480p'] });

    const { apiKey } = first;
    const key = await contentKey(first, apiKey, video.id);
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    await expect(rotateSecret()).rejects.toThrow(/Stop it first/);
    expect(await first.stop()).toEqual({ code: 0, signal: null });
    expect(await processesUsing(dataDir)).toEqual([]);
    expect(first.output).not.toContain(apiKey);
    const { consoleLink } = first;
    expect(first.output).not.toContain(codeIn(consoleLink));
    const events = first.log.trimEnd().split('\n');
    expect(events.map((line) => JSON.parse(line).message)).toContain('single-node.stopped');
    const secret = await readFile(join(dataDir, 'secrets.json'), 'utf8');
    await rotateSecret();
    expect(await readFile(join(dataDir, 'secrets.json'), 'utf8')).not.toBe(secret);
    for (const name of ['secrets.json', 'api-key', 'console-link']) {
      expect((await stat(join(dataDir, name))).mode & 0o077).toBe(0);
    }

    const second = await start();
    expect(second.output).not.toContain(apiKey);
    expect(second.consoleLink).not.toBe(consoleLink);
    const signedIn = await fetch(`${second.baseUrl}/console/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: new URL(second.baseUrl).origin },
      body: JSON.stringify({ code: codeIn(second.consoleLink) }),
    });
    expect(signedIn.status).toBe(201);
    expect(await signedIn.json()).toMatchObject({ workspace: { id: second.fact('Workspace') } });
    expect(second.fact('Workspace')).toBe(first.fact('Workspace'));
    const kept = await fetchVideo(second, apiKey, video.id);
    expect(kept.status).toBe('ready');
    const path = new URL(kept.hls ?? '').pathname;
    const master = await fetch(new URL(path, second.baseUrl));
    expect(await master.text()).toMatch(/^#EXTM3U/);
    expect(await contentKey(second, apiKey, video.id)).toBe(key);
  });

  test('is ready only once its first key is valid', async () => {
    const apiKey = `svc_live_${'k'.repeat(43)}`;
    const node = await SingleNodeProcess.spawn(dataDir, { BOOTSTRAP_API_KEY: apiKey });
    nodes.push(node);
    const isReady = async () =>
      (await fetch(new URL('/readyz', node.baseUrl)).catch(() => undefined))?.ok === true;
    // Polls every 5 ms, so that the next request follows at once.
    await until(isReady, { longestPauseMs: 5 });
    const usage = await fetch(`${node.baseUrl}/auth/usage`, {
      headers: { Authorization: `Bearer ${apiKey}` },
    });
    // Not 401: only the workspace header is missing.
    expect(usage.status).toBe(400);
    await until(async () => node.output.includes('Stop with Ctrl-C'));
    expect(node.output).not.toContain(apiKey);
    expect(node.output).toContain('the value of BOOTSTRAP_API_KEY');
  });

  /** Like `npm run rotate-secret`. */
  const rotateSecret = () =>
    run(process.execPath, [join(import.meta.dirname, '../src/cli/rotate-secret.ts')], {
      env: { PATH: process.env.PATH, DATA_DIR: dataDir },
    });

  /** The key with which a player decrypts a video. */
  async function contentKey(node: SingleNodeProcess, apiKey: string, videoId: string): Promise<string> {
    const { hls } = await fetchVideo(node, apiKey, videoId);
    const path = new URL('key', hls).pathname;
    const response = await fetch(new URL(path, node.baseUrl));
    return Buffer.from(await response.arrayBuffer()).toString('hex');
  }

  test('names the variable of a port that is in use before it starts a database', async () => {
    const stranger = createServer().listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const taken = String((stranger.address() as AddressInfo).port);
    try {
      expect(await refusal({ PORT: taken })).toMatch(
        new RegExp(`Port ${taken} .* is taken .* Set PORT to a free port`),
      );
      for (const variable of ['ENGINE_PORT', 'INTERNAL_PORT', 'ENGINE_INTERNAL_PORT']) {
        expect(await refusal({ [variable]: taken })).toMatch(new RegExp(`Set ${variable} to a free port`));
      }
      expect(await readdir(dataDir)).not.toContain('postgres');
    } finally {
      stranger.close();
    }
  });

  test('a start that fails late leaves no process; the next one prints the first key, and has the data directory for itself', async () => {
    // The engine's settings are read once the control plane runs.
    const shown = await refusal({ ENGINE_SLOTS: 'many' }, { terminal: true });
    expect(shown).toMatch(/Framelane failed: ENGINE_SLOTS: .*Stopping.*Stopped/s);
    expect(await readdir(dataDir)).toContain('postgres');
    expect(await processesUsing(dataDir)).toEqual([]);

    const node = await SingleNodeProcess.spawn(dataDir, {}, { terminal: true });
    nodes.push(node);
    await until(async () => node.output.includes('Stop with Ctrl-C'));
    // A terminal shows the secrets, and no file has them.
    expect(node.fact('API key')).toMatch(/^svc_live_/);
    expect(node.fact('Console')).toMatch(/^http:\/\/localhost:\d+\/console\/#code=console_code_\w{43}$/);
    const files = await readdir(dataDir);
    expect(files.filter((name) => ['api-key', 'console-link'].includes(name))).toEqual([]);
    // Another one does not share its data directory, and does not disturb it.
    expect(await refusal({})).toMatch(/Another Framelane is running .* set DATA_DIR/);
    const ready = await fetch(new URL('/readyz', node.baseUrl));
    expect(await ready.json()).toEqual({ status: 'ready', missing: [] });
  });

  test('refuses an invalid DATABASE_URL, and waits while the database is unreachable', async () => {
    const output = await refusal({ DATABASE_URL: 'postgres://user:hush#@127.0.0.1:1/framelane' });
    expect(output).toMatch(/^.*DATABASE_URL: must be a postgres:\/\/ address; percent-encode .*$/m);
    expect(output).not.toContain('hush');

    const url = 'postgres://user:hush@127.0.0.1:1/framelane';
    const node = await SingleNodeProcess.spawn(dataDir, { DATABASE_URL: url }, { terminal: true });
    nodes.push(node);
    await until(() => node.output.includes('start.waiting'), { details: () => node.output });
    expect(node.output).toMatch(/start\.waiting .*ECONNREFUSED.* setting=DATABASE_URL .*waitedSeconds=\d/);
    expect(node.output).not.toContain('hush');
    await node.stop();
    expect(await node.exited).toEqual({ code: 0, signal: null });
  });

  withMounts.test('keeps its database when half-open uploads fill the disk', async () => {
    await mountSmallDisk(dataDir, '400m');
    try {
      const node = await start();
      const { apiKey } = node;
      const uploads: HalfOpenUpload[] = [];
      const hold = async (bytes: number) => {
        uploads.push(await halfOpenUpload(await requestTicket(node, apiKey), bytes));
        return uploads.at(-1)?.outcome;
      };
      for (const bytes of [120 * MIB, 80 * MIB]) expect(await hold(bytes)).toBe('open');
      // Small ones, because a refused upload frees its bytes.
      let outcome: HalfOpenUpload['outcome'] | undefined;
      do outcome = await hold(8 * MIB);
      while (outcome === 'open');
      expect(outcome).toBe(507);
      const { bavail, blocks } = await statfs(dataDir);
      // Bytes written since the last check may come out of the reserve.
      expect(bavail / blocks).toBeGreaterThan(0.04);
      await requestTicket(node, apiKey);
      const ready = await fetch(new URL('/readyz', node.baseUrl));
      expect(await ready.json()).toEqual({ status: 'ready', missing: [] });

      for (const { abandon } of uploads) abandon();
      await until(async () => (await upload(node, apiKey, '/etc/hostname').catch(() => null)) !== null);
    } finally {
      await Promise.all(nodes.splice(0).map((node) => node.stop()));
      await unmountSmallDisk(dataDir);
    }
  });

  test('continues its transcodes after it was killed during one', async () => {
    const first = await start({ ENGINE_PRESET: 'veryslow' });
    const { apiKey } = first;
    const video = await upload(first, apiKey, await makeVideo(join(dataDir, 'long.mp4')));
    await until(async () => (await fetchVideo(first, apiKey, video)).progress > 0);
    first.kill('SIGKILL');
    await first.exited;

    const second = await start({ ENGINE_PRESET: 'ultrafast' });
    await until(async () => (await fetchVideo(second, apiKey, video)).status === 'ready');
    const attempts = join(dataDir, 'objects', 'hls', second.fact('Workspace'), video);
    await until(async () => (await readdir(attempts)).length === 1);
  });
});

/** A video with noise, which takes the encoder some time. */
async function makeVideo(path: string): Promise<string> {
  await run('ffmpeg', [
    ...['-nostdin', '-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=30,noise=alls=40:allf=t'],
    ...['-t', '12', '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', path],
  ]);
  return path;
}

type Ticket = { videoId: string; uploadUrl: string; uploadToken: string };

async function requestTicket(node: SingleNodeProcess, apiKey: string): Promise<Ticket> {
  const ticket = await fetch(`${node.baseUrl}/videos/upload-ticket`, {
    method: 'POST',
    headers: { ...credentials(node, apiKey), 'Content-Type': 'application/json' },
    body: JSON.stringify({ filename: 'long.mp4' }),
  });
  expect(ticket.status).toBe(201);
  return (await ticket.json()) as Ticket;
}

/** An upload that has sent many bytes and does not end. */
type HalfOpenUpload = { outcome: number | 'open'; abandon: () => void };

/** Sends `bytes` of a file without Content-Length. Resolves once they are sent, or with the status of a refusal. */
async function halfOpenUpload({ uploadUrl, uploadToken }: Ticket, bytes: number): Promise<HalfOpenUpload> {
  const sent = request(uploadUrl, {
    method: 'POST',
    headers: { 'X-Upload-Token': uploadToken, 'Content-Type': 'multipart/form-data; boundary=x' },
  });
  let outcome: HalfOpenUpload['outcome'] = 'open';
  const { promise: refused, resolve } = Promise.withResolvers<void>();
  sent.on('response', (response) => {
    outcome = response.statusCode ?? 0;
    response.resume();
    resolve();
  });
  sent.on('error', () => resolve());
  sent.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.mp4"\r\n\r\n');
  const piece = Buffer.alloc(MIB);
  for (let left = bytes; left > 0 && outcome === 'open' && !sent.destroyed; left -= MIB) {
    if (!sent.write(piece)) await Promise.race([once(sent, 'drain').catch(() => {}), refused]);
  }
  return { outcome, abandon: () => void sent.destroy() };
}

async function upload(node: SingleNodeProcess, apiKey: string, path: string): Promise<string> {
  const { videoId, uploadUrl, uploadToken } = await requestTicket(node, apiKey);
  const form = ['-sS', '--fail', '-H', `X-Upload-Token: ${uploadToken}`, '-F', `file=@${path}`];
  await run('curl', [...form, uploadUrl]);
  return videoId;
}

async function fetchVideo(node: SingleNodeProcess, apiKey: string, id: string): Promise<Video> {
  const response = await fetch(`${node.baseUrl}/videos/${id}`, { headers: credentials(node, apiKey) });
  return (await response.json()) as Video;
}

/** The code in a sign-in link. */
function codeIn(link: string): string {
  return new URL(link).hash.replace('#code=', '');
}

function credentials(node: SingleNodeProcess, apiKey: string): Record<string, string> {
  return { Authorization: `Bearer ${apiKey}`, 'X-Svc-Workspace': node.fact('Workspace') };
}
