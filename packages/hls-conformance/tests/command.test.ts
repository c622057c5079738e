import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Report } from '../src/check.ts';
import { runCommand } from '../src/command.ts';
import { RULES } from '../src/rules.ts';
import { copyOf, type Files, type Media, makeMedia, publish } from './support/good-stream.ts';
import { StreamServer } from './support/stream-server.ts';

let media: Media;
let files: Files;
let server: StreamServer;
let elsewhere: StreamServer;

beforeAll(async () => {
  media = await makeMedia();
  server = await StreamServer.start();
  elsewhere = await StreamServer.start();
});
beforeEach(() => {
  files = publish(copyOf(media));
  server.files = files;
  server.tamper = () => {};
  server.requests.length = 0;
});
afterAll(async () => {
  await server.stop();
  await elsewhere.stop();
});

async function run(...args: string[]) {
  let [text, errors] = ['', ''];
  const exitCode = await runCommand(args, {
    write: (more) => {
      text += more;
    },
    writeError: (more) => {
      errors += more;
    },
  });
  return { exitCode, text, errors };
}

function edit(path: string, from: string | RegExp, to: string): void {
  files.set(path, Buffer.from((files.get(path) ?? '').toString().replace(from, to)));
}

describe('the exit code', () => {
  test('is 0 when no rule is broken', async () => {
    const { exitCode, text, errors } = await run(server.url);
    expect([exitCode, errors]).toEqual([0, '']);
    expect(text).toContain('0 failed');
    expect(text).toContain('✓ master.bandwidth');
    expect(text).toContain('180p/index.m3u8: peak ');
  });

  test('is 0 when only a should rule is broken, which is reported', async () => {
    for (const name of ['90p', '180p', 'audio']) edit(`${name}/index.m3u8`, 'DURATION:6', 'DURATION:7');
    const { exitCode, text } = await run(server.url);
    expect(exitCode).toBe(0);
    expect(text).toContain('✗ media.six-seconds');
    expect(text).toContain('1 failed (1 should)');
  });

  test('is 1 when a must rule is broken, with the place and the figures', async () => {
    edit('master.m3u8', '320x180', '320x192');
    const { exitCode, text } = await run(server.url);
    expect(exitCode).toBe(1);
    expect(text).toContain('✗ master.resolution');
    expect(text).toMatch(
      /master\.m3u8, line \d+ \(180p\/index\.m3u8\): RESOLUTION is 320x192, the frame size is 320x180/,
    );
  });

  test.each([
    ['an invalid URL', ['master.m3u8'], 'http or https URL'],
    ['no URL', [], 'missing required argument'],
    [
      'an unknown profile',
      ['http://127.0.0.1/', '--profile', 'best'],
      'Allowed choices are standard, framelane',
    ],
    ['an invalid header', ['http://127.0.0.1/', '--header', 'Authorization'], 'Name: value'],
    ['no server', ['http://127.0.0.1:1/master.m3u8'], 'ECONNREFUSED'],
  ])('is 2 for %s', async (_what, args, message) => {
    const { exitCode, text, errors } = await run(...args);
    expect([exitCode, text]).toEqual([2, '']);
    expect(errors).toContain(message);
  });

  test.each([
    ['a missing file', 'missing.m3u8', 'responded with 404'],
    ['a file that is not a playlist', '180p/0.ts', 'not a playlist'],
  ])('is 2 for %s', async (_what, path, message) => {
    const { exitCode, errors } = await run(new URL(path, server.url).href);
    expect(exitCode).toBe(2);
    expect(errors).toContain(message);
  });

  test('is 0 for help, which names the options', async () => {
    const { exitCode, text } = await run('--help');
    expect(exitCode).toBe(0);
    for (const word of ['<url>', '--profile', '--json', '--token', '--header', 'Exit code'])
      expect(text).toContain(word);
  });
});

test('JSON has every rule with its level, source and verdict', async () => {
  edit('master.m3u8', '320x180', '320x192');
  const { text } = await run(server.url, '--json', '--profile', 'framelane');
  const report: Report = JSON.parse(text);
  expect(report.profile).toBe('framelane');
  expect(report.results.map(({ id }) => id)).toEqual(RULES.map(({ id }) => id));
  expect(report.results.filter(({ outcome }) => outcome === 'failed')).toEqual([
    {
      id: 'master.resolution',
      level: 'must',
      source: expect.stringContaining('RFC 8216'),
      sentence: expect.stringMatching(/\w/),
      outcome: 'failed',
      findings: [{ place: expect.stringContaining('180p'), message: expect.stringContaining('320x192') }],
    },
  ]);
});

test('the profile framelane adds the rules of Framelane and skips its deviations', async () => {
  edit('master.m3u8', /BANDWIDTH=19\d{4}/, 'BANDWIDTH=199000');
  edit('master.m3u8', /,CLOSED-CAPTIONS=NONE/g, '');
  const failed = async (...args: string[]) => {
    const report: Report = JSON.parse((await run(server.url, '--json', ...args)).text);
    return report.results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);
  };
  expect(await failed()).toEqual(['master.cellular-variant']);
  expect(await failed('--profile', 'framelane')).toEqual(['master.closed-captions']);
  const advice = 'use --profile framelane';
  expect((await run(server.url)).text).toContain(advice);
  expect((await run(server.url, '--profile', 'framelane')).text).not.toContain(advice);
});

test('the standard profile sends one request for each resource', async () => {
  await run(server.url);
  expect(new Set(server.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
  const paths = server.requests.map(({ path }) => path);
  expect(paths).toHaveLength(new Set(paths).size);
});

test('the token is sent with the URL, headers only to its origin, and neither is in the report', async () => {
  elsewhere.files = new Map([['180p/0.ts', files.get('180p/0.ts') ?? Buffer.alloc(0)]]);
  elsewhere.requests.length = 0;
  edit('180p/index.m3u8', '\n0.ts', `\n${elsewhere.origin}/video/180p/0.ts?token=secret`);
  server.tamper = (reply, { path, headers }) => {
    if (path === '90p/0.ts' && headers['x-key'] !== 'secret') reply.status = 403;
  };
  const { exitCode, text } = await run(
    server.url,
    '--token',
    'secret',
    '--header',
    'X-Key: secret',
    '--json',
  );
  expect(exitCode).toBe(0);
  expect(text).not.toContain('secret');
  expect(server.requests[0]).toMatchObject({ path: 'master.m3u8', query: '?token=secret' });
  expect(elsewhere.requests).toHaveLength(1);
  expect(elsewhere.requests[0]?.headers).not.toHaveProperty('x-key');
});
