import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import type { Host } from './host.ts';
import { runCli } from './program.ts';

/** Runs a command without a terminal, with nothing stored. */
async function run(args: string[], env: Host['env'] = {}) {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const exitCode = await runCli(args, {
    env: { HOME: '/nonexistent', ...env },
    stdin: Readable.from([]),
    write: (text) => void stdout.push(text),
    writeError: (text) => void stderr.push(text),
    isTerminal: false,
    columns: () => 80,
    signal: new AbortController().signal,
  });
  return { exitCode, stdout: stdout.join(''), stderr: stderr.join('') };
}

const ENV = {
  FRAMELANE_BASE_URL: 'http://127.0.0.1:1',
  FRAMELANE_API_KEY: 'svc_live_secret',
  FRAMELANE_WORKSPACE_ID: 'ws_1',
};

test('help is on standard output, with examples', async () => {
  const { exitCode, stdout, stderr } = await run(['upload', '--help']);
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(stdout).toContain('Examples:\n  framelane upload holiday.mp4 --wait');
});

test('the help lists every command with what it does, but not the one for shells', async () => {
  const { stdout } = await run(['--help']);
  for (const name of [
    'login',
    'logout',
    'whoami',
    'upload',
    'videos',
    'captions',
    'webhooks',
    'listen',
    'events',
    'mcp',
    'completion',
  ])
    expect(stdout).toMatch(new RegExp(`^  ${name}[ [<].*\\w`, 'm'));
  expect(stdout).not.toContain('complete [');
});

test.each([
  [['videos', 'lst'], /unknown command 'lst'\n\(Did you mean list\?\)/],
  [['videos', 'show'], /missing required argument 'id'/],
  [['upload', 'a.mp4', '--packging', 'ts'], /unknown option '--packging'\n\(Did you mean --packaging\?\)/],
  [['videos', 'list', '--max', '0'], /whole number above 0/],
  [['listen', '--forward-to', 'localhost:3000'], /Use an http or https URL/],
  [['login', '--key-stdin'], /also give --url and --workspace/],
  [['login', '--url', 'http://a.test', 'x'], /--url is for --key-stdin/],
  [['videos', 'delete', 'vid_1'], /Add --yes/, ENV],
  [['upload', '-'], /Standard input has no name/, ENV],
  [['upload', 'a', 'b', '--title', 'T'], /one by one/, ENV],
  [['captions', 'add', 'vid_1', 'talk.vtt'], /Add --language/, ENV],
  [['completion', 'tcsh'], /Allowed choices are bash, zsh, fish/],
] as [string[], RegExp, Host['env']?][])(
  '%j is a mistake in the arguments',
  async (args, message, env = {}) => {
    const { exitCode, stdout, stderr } = await run(args, env);
    expect(stderr).toMatch(message);
    expect([exitCode, stdout]).toEqual([2, '']);
  },
);

test.each([
  [['whoami'], /You are not signed in\. Run "framelane login"/],
  [['upload', '/nonexistent.mp4'], /There is no file \/nonexistent\.mp4\./, ENV],
  [['upload', '/'], /\/ is a directory/, ENV],
  [['upload', '/dev/null'], /\/dev\/null is not a regular file\. Use -/, ENV],
  [
    ['upload', '/nonexistent.mp4', '/'],
    /no file \/nonexistent\.mp4\.\n.*\/ is a directory.*\n2 of 2 files/,
    ENV,
  ],
  [['captions', 'add', 'vid_1', '/nonexistent.en.vtt'], /cannot be read/, ENV],
  [['logout'], /You are not signed in as profile "default"/],
] as [string[], RegExp, Host['env']?][])(
  '%j fails with one message and no stack trace',
  async (args, message, env = {}) => {
    const { exitCode, stdout, stderr } = await run(args, env);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^ {4}at /m);
    expect([exitCode, stdout]).toEqual([1, '']);
  },
);

test('the version is that of the package', async () => {
  expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});
