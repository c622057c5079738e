import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '@framelane/test-kit/free-ports';
import { InstalledProgram } from '@framelane/test-kit/installed-program';
import { OtlpReceiver } from '@framelane/test-kit/otlp-receiver';
import { processesUsing } from '@framelane/test-kit/processes';
import { runProgram } from '@framelane/test-kit/run-program';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

/** Nothing of the environment of the tests reaches the program. */
type Env = Readonly<Record<string, string>>;

let program: InstalledProgram;
let env: Env;
let collector: OtlpReceiver;
let node: ChildProcess;
let output = '';
let hls = '';
let segment: Buffer;

beforeAll(async () => {
  program = await InstalledProgram.install();
  collector = await OtlpReceiver.start();
  const [port, enginePort] = await freePorts(2);
  env = {
    ...program.env,
    PORT: String(port),
    ENGINE_PORT: String(enginePort),
    ENGINE_PRESET: 'ultrafast',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    BACKUP_PASSPHRASE: 'a passphrase of the test',
  };
});
afterAll(async () => {
  node?.kill('SIGKILL');
  await collector?.stop();
  await program?.remove();
});

/** Starts the node, and waits until it is ready. */
async function start(changes: Env = {}): Promise<void> {
  output = '';
  node = spawn('setpriv', ['--pdeathsig=TERM', program.command, 'start'], {
    cwd: program.directory,
    env: { ...env, ...changes },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [node.stdout, node.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  }
  await until(() => output.includes('Stop with Ctrl-C') || node.exitCode !== null, {
    what: 'the program is ready',
    seconds: 150,
    details: () => output,
  });
}

async function stop(): Promise<void> {
  node.kill('SIGTERM');
  expect(await once(node, 'close')).toEqual([0, null]);
}

/** Runs the command to its end. */
async function framelane(args: string[], changes: Env = {}) {
  const child = spawn(process.execPath, [program.command, ...args], {
    cwd: program.directory,
    env: { ...env, ...changes },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk) => {
      texts[name] += chunk;
    });
  }
  const [code] = await once(child, 'close');
  return { code, ...texts };
}

const WITHOUT_PROGRAMS = { PATH: '/nonexistent' };

test('without ffmpeg, doctor and start say what to do', async () => {
  const { code, stdout } = await framelane(['doctor'], WITHOUT_PROGRAMS);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✗ System programs: These programs are missing: ffmpeg, ffprobe, .* Install them/m);
  expect(await framelane(['start'], WITHOUT_PROGRAMS)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('These programs are missing: ffmpeg, ffprobe'),
  });
});

test.each([
  [
    ['start', '--port'],
    1,
    "Unknown option '--port'. Settings are environment variables: see framelane start --help",
  ],
  [['satrt'], 2, 'Did you mean start?'],
  [['engine', '--role'], 1, "unknown option '--role'"],
  [['whoami'], 1, 'Run "framelane login"'],
])('framelane %j is refused', async (args, exitCode, message) => {
  const { code, stderr } = await framelane(args);
  expect([code, stderr]).toEqual([exitCode, expect.stringContaining(message)]);
});

test.each([
  ['control-plane', 'DATABASE_URL is not set'],
  ['engine', 'CONTROL_PLANE_INTERNAL_URL is not set'],
])('framelane %s names the settings that it needs', async (service, message) => {
  const { code, stdout } = await framelane([service]);
  expect([code, stdout]).toEqual([1, expect.stringContaining(message)]);
});

test('starts in an empty folder, and its example uploads a video that is played', async () => {
  await start();
  expect(output).toContain(`${join(program.directory, 'home/.local/share/framelane')}\n`);
  expect(output).toContain('framelane admin console-link');
  // It would open the inspector.
  node.kill('SIGUSR1');

  const [, example = ''] = /^(TICKET=.*; done)$/ms.exec(output) ?? [];
  const { stdout } = await runProgram('sh', ['-c', example], { cwd: program.directory });
  const video = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  expect(video.status).toBe('ready');
  hls = video.hls;
  const { embed } = video;
  await firstSegment();
  for (const page of [embed, ...['/console/', '/v1/docs', '/docs/'].map((path) => new URL(path, embed))]) {
    const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(await textAt(page)) ?? [];
    expect((await fetch(new URL(script, page))).status).toBe(200);
  }
  expect(await textAt(new URL('/llms.txt', embed))).toMatch(/^# Framelane\n/);
  expect(output).not.toContain('Debugger listening');
});

test('the commands of the API use the node', async () => {
  const client = {
    FRAMELANE_BASE_URL: `http://localhost:${env.PORT}/v1`,
    FRAMELANE_API_KEY: await readFile(join(program.directory, 'home/.local/share/framelane/api-key'), 'utf8'),
    FRAMELANE_WORKSPACE_ID: /ws_\w+/.exec(output)?.[0] ?? '',
  };
  const { code, stdout, stderr } = await framelane(['videos', 'list', '--json'], client);
  expect([code, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toEqual([expect.objectContaining({ title: 'sample', status: 'ready' })]);
});

test('admin uses the running node, and doctor finds nothing that fails', async () => {
  const { code, stdout } = await framelane(['admin', 'key', 'create', '--name', 'second', '--json']);
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ name: 'second' })]);
  const doctor = await framelane(['doctor', '--json']);
  const { ok, findings } = JSON.parse(doctor.stdout);
  expect(findings.filter((each: { status: string }) => each.status === 'failed')).toEqual([]);
  expect([doctor.code, ok]).toEqual([0, true]);
  for (const [title, detail] of [
    ['Service', 'running and ready'],
    ['Sandbox', 'confines ffmpeg'],
    ['Database', 'reachable'],
    ['Backup', 'there is none'],
  ])
    expect(findings).toContainEqual(
      expect.objectContaining({ title, detail: expect.stringContaining(detail ?? '') }),
    );
});

test('stops, and leaves no process behind', async () => {
  const backup = await framelane(['admin', 'backup', join(program.directory, 'backup')]);
  expect(backup).toMatchObject({ code: 0 });
  segment = await firstSegment();
  await stop();
  expect(await processesUsing(program.directory)).toEqual([]);
});

test('one trace goes from the ticket to ffmpeg', () => {
  const ticket = collector.spans.find(({ name }) => name === 'POST /v1/videos/upload-ticket');
  const spans = collector.spans.filter(({ traceId }) => traceId === ticket?.traceId);
  expect(new Set(spans.map(({ resource }) => resource['service.name']))).toEqual(
    new Set(['framelane-control-plane', 'framelane-engine']),
  );
  expect(spans.map(({ name }) => name)).toContain('ffmpeg');
});

test('the backup is restored into an empty folder, and its video is played', async () => {
  const restored = { DATA_DIR: join(program.directory, 'restored') };
  const restore = await framelane(['admin', 'restore', join(program.directory, 'backup')], restored);
  expect(restore).toMatchObject({ code: 0 });
  await start(restored);
  expect((await firstSegment()).equals(segment)).toBe(true);
  const verify = await framelane(['admin', 'verify', '--json'], restored);
  expect(verify).toMatchObject({ code: 0 });
  await stop();
});

/** Follows the playlists of the video. Resolves with the bytes of a first segment. */
async function firstSegment(): Promise<Buffer> {
  const media = new URL(/^[^#].*m3u8.*$/m.exec(await textAt(hls))?.[0] ?? '', hls);
  const url = new URL(/^[^#].+$/m.exec(await textAt(media))?.[0] ?? '', media);
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

async function textAt(url: string | URL): Promise<string> {
  const response = await fetch(url);
  expect([response.status, String(url)]).toEqual([200, String(url)]);
  return response.text();
}
