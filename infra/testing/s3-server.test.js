import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

let folder;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 's3-server-test-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** A program that logs its command and then runs the lines of the test. */
async function tool({ install = '', start = 'echo S3_ENDPOINT=http://s3.test; echo S3_REGION=here' } = {}) {
  const path = join(folder, 'tool');
  const script = `#!/bin/sh
    echo "$1" >> ${folder}/log
    case $1 in
      install) ${install || ':'} ;;
      start) ${start} ;;
      stop) [ -d "$(dirname "$S3_TEST_DIR")" ] || echo 'without its directory' >> ${folder}/log ;;
    esac`;
  await writeFile(path, script);
  await chmod(path, 0o755);
  return path;
}

const log = async () => (await readFile(join(folder, 'log'), 'utf8')).split('\n').filter(Boolean);

/** Runs `withS3Server(test)` in another process. */
function runWith(env, test) {
  const script = `
    import { withS3Server } from '${join(import.meta.dirname, 's3-server.js')}';
    await withS3Server(${test});`;
  const { S3_TEST_ENDPOINT, S3_TEST_TOOL, ...rest } = process.env;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { env: { ...rest, ...env } });
}

async function finish(child) {
  const printed = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    printed.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    printed.err += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, ...printed };
}

const SHOW = `async (env) => console.log(JSON.stringify(env))`;

test('starts a server for the tests and stops it after them', async () => {
  const { out, err, code } = await finish(runWith({ S3_TEST_TOOL: await tool() }, SHOW));
  expect(JSON.parse(out)).toEqual({ S3_TEST_ENDPOINT: 'http://s3.test', S3_TEST_REGION: 'here' });
  expect(err).toContain('the server at http://s3.test, started by S3_TEST_TOOL');
  expect(await log()).toEqual(['install', 'start', 'stop']);
  expect(code).toBe(0);
});

test('stops the server when the tests throw', async () => {
  const child = runWith({ S3_TEST_TOOL: await tool() }, `async () => { throw new Error('no') }`);
  expect((await finish(child)).code).toBe(1);
  expect(await log()).toEqual(['install', 'start', 'stop']);
});

test('stops the server when a signal ends the run while the server starts', async () => {
  const child = runWith({ S3_TEST_TOOL: await tool({ start: 'echo started >&2; exec sleep 60' }) }, SHOW);
  child.stderr.once('data', () => child.kill('SIGTERM'));
  expect((await finish(child)).code).toBe(143);
  expect(await log()).toEqual(['install', 'start', 'stop']);
});

test.each([
  ['installed', { install: 'exit 1' }, ['install', 'stop']],
  ['started', { start: 'exit 1' }, ['install', 'start', 'start', 'start', 'stop']],
])('uses the fake server when the real one cannot be %s', async (_, what, calls) => {
  const { out, err } = await finish(runWith({ S3_TEST_TOOL: await tool(what) }, SHOW));
  expect(JSON.parse(out)).toEqual({});
  expect(err).toContain('could not be started');
  expect(await log()).toEqual(calls);
});

test('uses the server of S3_TEST_ENDPOINT and starts none', async () => {
  const env = { S3_TEST_ENDPOINT: 'http://s3.mine', S3_TEST_TOOL: await tool() };
  const { out, err } = await finish(runWith(env, SHOW));
  expect(JSON.parse(out)).toEqual({});
  expect(err).toContain('the server at http://s3.mine');
  await expect(log()).rejects.toThrow('ENOENT');
});
