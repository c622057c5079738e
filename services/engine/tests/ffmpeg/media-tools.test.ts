import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createLogger, type Logger } from '@framelane/service-kit/logger';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { prepareMediaTools } from '../../src/ffmpeg/media-tools.ts';
import { LAUNCH_PROGRAMS } from '../../src/sandbox/launch-script.ts';
import { DEFAULT_TRANSCODE_LIMITS, type Sandbox } from '../../src/transcode-settings.ts';
import { workingSandboxes } from '../support/sandboxes.ts';

const run = promisify(execFile);
const { PATH } = process.env;
const SANDBOXES = workingSandboxes();

/** The work directory of the engine. */
let directory: string;
/** A folder with only the programs that the engine requires. It replaces PATH. */
let programs: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'media-tools-'));
  // If the engine is root, ffmpeg runs as another user.
  await chmod(directory, 0o755);
  programs = join(directory, 'bin');
  await mkdir(programs);
  for (const name of [...LAUNCH_PROGRAMS, 'id', 'useradd', 'ffmpeg', 'ffprobe']) {
    await symlink(await pathOf(name), join(programs, name));
  }
  process.env.PATH = programs;
});
afterEach(async () => {
  process.env.PATH = PATH;
  await rm(directory, { recursive: true });
});

async function pathOf(name: string): Promise<string> {
  const { stdout } = await run('/bin/sh', ['-c', `command -v ${name}`], { env: { PATH } });
  return stdout.trim();
}

/** Replaces ffmpeg with a script that reports a version and otherwise runs the real one. */
async function installFfmpeg(version: string, configuration = '', lacking?: string): Promise<void> {
  const real = await pathOf('ffmpeg');
  const banner = `"ffmpeg version ${version} Copyright"`;
  const without = lacking === undefined ? '' : ` | sed '/ ${lacking} /d'`;
  const script = [
    `[ "$*" = -version ] && exec echo ${banner}`,
    `echo ${banner} ${configuration} >&2`,
    `${real} -hide_banner "$@"${without}`,
  ].join('\n');
  await rm(join(programs, 'ffmpeg'));
  await writeFile(join(programs, 'ffmpeg'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

/** Prepares the tools as an engine does at its start, and resolves with the logged warnings. */
async function warningsOfStart(sandbox: Sandbox): Promise<string[]> {
  const warnings: string[] = [];
  const logger = createLogger({ service: 'test' });
  logger.silent = true;
  logger.warn = ((event: string) => {
    warnings.push(event);
    return logger;
  }) as unknown as Logger['warn'];
  const settings = { workDir: directory, sandbox, limits: DEFAULT_TRANSCODE_LIMITS };
  const { ffmpeg } = await prepareMediaTools(settings, logger);
  await run(ffmpeg, ['-version'], { cwd: directory });
  return warnings;
}

test.each([
  ['7.1.4', ['sandbox.none', 'ffmpeg.outdated']],
  ['7.1.5', ['sandbox.none']],
])('a start with ffmpeg %s logs the warnings %j', async (version, warnings) => {
  await installFfmpeg(version);
  expect(await warningsOfStart('none')).toEqual(warnings);
});

test.each(['libsvtav1', 'libx265'])(
  'a start with an ffmpeg without %s leaves codecs to others',
  async (lacking) => {
    await symlink(await pathOf('sed'), join(programs, 'sed'));
    await installFfmpeg('7.1.5', '', lacking);
    expect(await warningsOfStart('none')).toEqual(['sandbox.none', 'ffmpeg.lacks_encoders']);
  },
);

test('no start is possible with an ffmpeg without libx264', async () => {
  await symlink(await pathOf('sed'), join(programs, 'sed'));
  await installFfmpeg('7.1.5', '', 'libx264');
  await expect(warningsOfStart('none')).rejects.toThrow('lacks libx264');
});

test('a start with an ffmpeg that prints a very long banner knows its version', async () => {
  await installFfmpeg('7.1.4', '--enable-libx264 '.repeat(1000));
  expect(await warningsOfStart('none')).toEqual(['sandbox.none', 'ffmpeg.outdated']);
});

test('the engine starts without a sandbox only if ENGINE_SANDBOX is none', async () => {
  await installFfmpeg('7.1.5');
  const refusal =
    /^ffmpeg cannot be confined.*bwrap was not found in PATH.*apt-get install bubblewrap.*ENGINE_SANDBOX=none/s;
  await expect(warningsOfStart('bubblewrap')).rejects.toThrow(refusal);
  if (!SANDBOXES.includes('landlock')) {
    await expect(warningsOfStart('auto')).rejects.toThrow(refusal);
    await expect(warningsOfStart('landlock')).rejects.toThrow(/^ffmpeg cannot be confined.*landlock: /s);
  }
  expect(await warningsOfStart('none')).toEqual(['sandbox.none']);
});

// Not with `test.each`, which fails if no sandbox works on this machine.
for (const sandbox of SANDBOXES.filter((name) => name !== 'none')) {
  test(`a start with ${sandbox} works and logs no warning about the sandbox`, async () => {
    process.env.PATH = PATH;
    expect((await warningsOfStart(sandbox)).filter((event) => event.startsWith('sandbox.'))).toEqual([]);
  });
}

test.each(['ffprobe', 'prlimit'])('the engine does not start without %s', async (name) => {
  await rm(join(programs, name));
  await expect(warningsOfStart('none')).rejects.toThrow(`${name} was not found in PATH`);
});

test.each([
  ['exit 3', /ffmpeg could not be run: Ended with code 3: ffmpeg version 7/],
  ['kill -SEGV $$', /ffmpeg could not be run: Ended by .*: ffmpeg version 7/],
])('the engine says how an ffmpeg failed that prints only its banner: %s', async (end, message) => {
  await rm(join(programs, 'ffmpeg'));
  await writeFile(join(programs, 'ffmpeg'), `#!/bin/sh\necho ffmpeg version 7 >&2\n${end}\n`, {
    mode: 0o755,
  });
  await expect(warningsOfStart('none')).rejects.toThrow(message);
});
