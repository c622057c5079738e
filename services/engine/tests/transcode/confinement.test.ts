import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { confinedProgram } from '../../src/transcode/confinement.ts';
import { runTool } from '../../src/transcode/run-tool.ts';
import { DEFAULT_TRANSCODE_LIMITS } from '../../src/transcode/transcode-settings.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'confinement-'));
  await mkdir(join(directory, 'source'));
  await mkdir(join(directory, 'output'));
  await writeFile(join(directory, 'secret'), 'of another tenant');
  await writeFile(join(directory, 'source', 'file'), 'a video');
});
afterAll(() => rm(directory, { recursive: true }));

/** What a shell prints that is confined like ffmpeg. */
async function shell(sandbox: 'bubblewrap' | 'none', command: string): Promise<string> {
  const script = join(directory, `sh-${sandbox}`);
  await writeFile(script, confinedProgram('/bin/sh', sandbox, DEFAULT_TRANSCODE_LIMITS), { mode: 0o700 });
  const lines: string[] = [];
  await runTool(script, ['-c', command], {
    cwd: directory,
    signal: new AbortController().signal,
    limitSeconds: 10,
    onLine: (line) => lines.push(line),
  });
  return lines.join('\n');
}

describe.each(['none', 'bubblewrap'] as const)('a program confined with sandbox %s', (sandbox) => {
  test('sees nothing of the environment', async () => {
    process.env.FRAMELANE_TEST_SECRET = 'do not tell';
    const names = (await shell(sandbox, 'env')).split('\n').map((line) => line.split('=')[0]);
    expect(names.toSorted()).toEqual(['LC_ALL', 'PATH', 'PWD']);
  });

  test('works on the job in its directory', async () => {
    expect(await shell(sandbox, 'cat source/file && echo x > output/y && cat output/y')).toBe('a videox');
  });

  test('leads its own process group, at low priority and under limits', async () => {
    const [pid, , , , group, ...rest] = (await shell(sandbox, 'cat /proc/$$/stat')).split(' ');
    if (sandbox === 'none') expect(group).toBe(pid);
    expect(rest[13]).toBe('10');
    const limits = await shell(sandbox, 'cat /proc/self/limits');
    expect(limits).toMatch(new RegExp(`Max address space +${DEFAULT_TRANSCODE_LIMITS.memoryBytes} `));
    expect(limits).toMatch(new RegExp(`Max file size +${DEFAULT_TRANSCODE_LIMITS.fileBytes} `));
    expect(limits).toMatch(new RegExp(`Max cpu time +${DEFAULT_TRANSCODE_LIMITS.cpuSeconds} `));
  });
});

describe('bubblewrap', () => {
  test('keeps all other files, the network and other processes away', async () => {
    expect(await shell('bubblewrap', `cat ${directory}/secret || echo none`)).toBe('none');
    expect(await shell('bubblewrap', 'ls /home /root /work /var /etc/passwd 2>/dev/null || echo none')).toBe(
      'none',
    );
    expect(await shell('bubblewrap', 'tail -n +3 /proc/net/dev | cut -d: -f1')).toMatch(/^\s*lo$/);
    expect(await shell('bubblewrap', 'ls /proc | grep -c "^[0-9]"')).toMatch(/^[1-5]$/);
  });

  test('lets it write to the output alone', async () => {
    expect(await shell('bubblewrap', 'echo x > source/file || echo no')).toBe('no');
    expect(await shell('bubblewrap', 'echo x > /usr/x || echo no')).toBe('no');
    expect(await shell('bubblewrap', 'echo x > /x || echo no')).toBe('no');
  });
});
