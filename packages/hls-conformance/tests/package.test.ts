import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackage } from '@framelane/test-kit/installed-package';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Files, makeMedia, publish } from './support/good-stream.ts';
import { StreamServer } from './support/stream-server.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** A program that uses the package. With `MISTAKE` appended it has one type error. */
const CONSUMER = `
import { checkStream, violations } from '@framelane/hls-conformance';
const { report, presentation } = await checkStream(process.argv[2] ?? '', { profile: 'standard' });
console.log(JSON.stringify([violations(report), presentation.renditions.length]));
`;
const MISTAKE = "await checkStream('', { profile: 'best' }); // mistake\n";

let directory: string;
let files: Files;
let server: StreamServer;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hls-conformance-package-'));
  await installPackage('hls-conformance', directory);
  files = publish(await makeMedia());
  server = await StreamServer.start();
  server.files = files;
});
afterAll(async () => {
  await server?.stop();
  await rm(directory, { recursive: true });
});

describe('the package, installed outside of the workspace', () => {
  test('has a command that npx runs', async () => {
    const { stdout } = await runProgram('npx', ['--no-install', 'hls-conformance', server.url], {
      cwd: directory,
    });
    expect(stdout).toContain('✓ master.bandwidth');
    expect(stdout).toContain(' 0 failed');
  });

  test('fails the command if a rule is broken', async () => {
    const master = files.get('master.m3u8')?.toString() ?? '';
    server.files = new Map([...files, ['master.m3u8', Buffer.from(master.replace('320x180', '320x192'))]]);
    try {
      const run = runProgram('npx', ['--no-install', 'hls-conformance', server.url], { cwd: directory });
      await expect(run).rejects.toMatchObject({
        code: 1,
        stdout: expect.stringContaining('✗ master.resolution'),
      });
    } finally {
      server.files = files;
    }
  });

  test('is imported and typed', async () => {
    await writeFile(join(directory, 'consumer.mts'), CONSUMER);
    const { stdout } = await runProgram(process.execPath, [join(directory, 'consumer.mts'), server.url], {
      cwd: directory,
    });
    expect(JSON.parse(stdout)).toEqual([[], 3]);

    await writeFile(join(directory, 'consumer.mts'), CONSUMER + MISTAKE);
    const options = [
      '--noEmit',
      '--pretty',
      'false',
      '--strict',
      '--target',
      'es2024',
      '--module',
      'nodenext',
    ];
    const tsc = runProgram(
      join(ROOT, 'node_modules', '.bin', 'tsc'),
      [...options, '--types', 'node', '--skipDefaultLibCheck', 'consumer.mts'],
      { cwd: directory },
    );
    const line = CONSUMER.split('\n').length;
    await expect(tsc).rejects.toMatchObject({
      stdout: expect.stringMatching(new RegExp(`^consumer\\.mts\\(${line},\\d+\\): error .*\\n(?!consumer)`)),
    });
  });
});
